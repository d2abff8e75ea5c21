import type { Option } from "./option.js";
import { RENDEZVOUS_OPTIONS } from "./options/rendezvous.js";
import { NODE_OPTIONS, RESTART_OPTIONS } from "./options/restarts.js";
import { NOTICE_OPTIONS, STEP_OPTIONS } from "./options/steps.js";
import {
	COMMAND_OPTIONS,
	HTTP_OPTIONS,
	LOG_OPTIONS,
	WORKER_OPTIONS,
} from "./options/workers.js";

/** Every setting by its key. The command line, the environment, the config file and `LaunchConfig` derive from this table. */
export const OPTIONS = {
	...WORKER_OPTIONS,
	...RENDEZVOUS_OPTIONS,
	...RESTART_OPTIONS,
	...NODE_OPTIONS,
	...STEP_OPTIONS,
	...NOTICE_OPTIONS,
	...LOG_OPTIONS,
	...HTTP_OPTIONS,
	...COMMAND_OPTIONS,
};

export const ALL_OPTIONS = Object.values(OPTIONS);

/** The most common options; help shows them first. */
export const COMMON_OPTIONS: readonly Option<unknown>[] = [
	OPTIONS.nprocPerNode,
	OPTIONS.nnodes,
	OPTIONS.rdzvEndpoint,
	OPTIONS.maxRestarts,
	OPTIONS.logDir,
];
