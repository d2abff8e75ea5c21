import type { AgentConfig, RendezvousConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import type { LoginVariables } from "./resolve-credentials.js";
import { resolveStore } from "./resolve-store.js";
import type { Report, SettingReader } from "./settings.js";
import {
	completeRendezvous,
	timeOutProblem,
	timeOutWarnings,
} from "./time-outs.js";

type RendezvousPart = Pick<
	AgentConfig,
	| "minNodes"
	| "maxNodes"
	| "backend"
	| "endpoints"
	| "credentials"
	| "rendezvous"
>;

/** Where agents meet, how many, and how long they wait for each other. */
export async function resolveRendezvous(
	reader: SettingReader,
	context: { readonly cwd: string; readonly login: LoginVariables },
	warn: Report,
): Promise<RendezvousPart> {
	const { min: minNodes, max: maxNodes } = reader.value(OPTIONS.nnodes);
	const shutdownTimeoutMs = reader.value(OPTIONS.shutdownTimeout);
	const rendezvous = completeRendezvous(reader.given(OPTIONS.rdzvConf) ?? {}, {
		shutdownTimeoutMs,
		maxNodes,
	});
	checkTimeOuts(reader, rendezvous);
	const store = await resolveStore(reader, { ...context, maxNodes }, warn);
	if (store.backend === "etcd") {
		for (const warning of timeOutWarnings(rendezvous, shutdownTimeoutMs)) {
			warn(`${reader.placeOf(OPTIONS.rdzvConf)}: ${warning}`);
		}
	}
	return { minNodes, maxNodes, ...store, rendezvous };
}

function checkTimeOuts(
	reader: SettingReader,
	rendezvous: RendezvousConfig,
): void {
	const { rdzvConf, shutdownTimeout, nnodes } = OPTIONS;
	if (!reader.sound(rdzvConf, shutdownTimeout, nnodes)) return;
	const problem = timeOutProblem(rendezvous);
	if (problem !== undefined) reader.refuse(rdzvConf, problem);
}
