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
import { ignoredFlagsWarning } from "./torchrun-flags.js";

type RendezvousPart = Pick<
	AgentConfig,
	| "minNodes"
	| "maxNodes"
	| "backend"
	| "endpoints"
	| "credentials"
	| "meeting"
	| "nodeRank"
	| "rendezvous"
>;

/** Where agents meet, how many, and how long they wait. */
export async function resolveRendezvous(
	reader: SettingReader,
	context: { readonly cwd: string; readonly login: LoginVariables },
	warn: Report,
): Promise<RendezvousPart> {
	const { min: minNodes, max: maxNodes } = reader.value(OPTIONS.nnodes);
	const shutdownTimeoutMs = reader.value(OPTIONS.shutdownTimeout);
	const conf = reader.given(OPTIONS.rdzvConf) ?? {};
	const rendezvous = completeRendezvous(conf, { shutdownTimeoutMs, maxNodes });
	const ignored = ignoredFlagsWarning(conf.ignored ?? []);
	if (ignored) warn(`${reader.placeOf(OPTIONS.rdzvConf)}: ${ignored}`);
	checkTimeOuts(reader, rendezvous);
	const store = await resolveStore(reader, { ...context, maxNodes }, warn);
	if (store.backend === "etcd") {
		for (const warning of timeOutWarnings(rendezvous, shutdownTimeoutMs)) {
			warn(`${reader.placeOf(OPTIONS.rdzvConf)}: ${warning}`);
		}
	}
	const nodeRank = reader.given(OPTIONS.nodeRank);
	return { minNodes, maxNodes, ...store, nodeRank, rendezvous };
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
