import { constants } from "node:fs";
import { resolve } from "node:path";
import { accessProblem, FILE_PROBLEMS } from "./access-problem.js";
import type { AgentConfig, RendezvousConfig } from "./agent-config.js";
import { refuseWhatIsNotAvailable } from "./availability.js";
import { OPTIONS } from "./options.js";
import type { Report, SettingReader } from "./settings.js";
import {
	completeRendezvous,
	leaseWarning,
	timeOutProblem,
} from "./time-outs.js";

const DEFAULT_ENDPOINTS = ["127.0.0.1:2379"];

type RendezvousPart = Pick<
	AgentConfig,
	"minNodes" | "maxNodes" | "backend" | "endpoints" | "rendezvous"
>;

/** Where agents meet, how many, and how long they wait for each other. */
export async function resolveRendezvous(
	reader: SettingReader,
	cwd: string,
	warn: Report,
): Promise<RendezvousPart> {
	const { min: minNodes, max: maxNodes } = reader.value(OPTIONS.nnodes);
	const endpoints = reader.given(OPTIONS.rdzvEndpoint);
	const backend = chooseBackend(reader, maxNodes);
	const rendezvous = completeRendezvous(reader.given(OPTIONS.rdzvConf) ?? {}, {
		shutdownTimeoutMs: reader.value(OPTIONS.shutdownTimeout),
		maxNodes,
	});
	checkTimeOuts(reader, rendezvous, warn);
	await checkFiles(reader, rendezvous, cwd);
	return {
		minNodes,
		maxNodes,
		backend,
		endpoints: backend === "memory" ? [] : (endpoints ?? DEFAULT_ENDPOINTS),
		rendezvous,
	};
}

/** Also refuses what cannot be combined, and what is not available. */
function chooseBackend(
	reader: SettingReader,
	maxNodes: number,
): "etcd" | "memory" {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const given = reader.given(rdzvBackend);
	const isStandalone = reader.value(standalone);
	const hasEndpoint = reader.textOf(rdzvEndpoint) !== undefined;
	if (!reader.sound(nnodes, rdzvBackend, rdzvEndpoint, standalone))
		return "memory";
	const local = isStandalone
		? standalone
		: given === "memory"
			? rdzvBackend
			: undefined;
	if (local === undefined) {
		const backend =
			given ?? (maxNodes === 1 && !hasEndpoint ? "memory" : "etcd");
		refuseWhatIsNotAvailable(reader, { maxNodes, backend });
		return backend;
	}
	const conflicts = [
		...(maxNodes > 1 ? [nnodes] : []),
		...(hasEndpoint ? [rdzvEndpoint] : []),
		...(isStandalone && given === "etcd" ? [rdzvBackend] : []),
	];
	for (const other of conflicts) {
		reader.refuse(
			local,
			`one node without a store cannot be combined with ${reader.placeOf(other)} ${reader.textOf(other)}; leave one of them out`,
		);
	}
	return "memory";
}

function checkTimeOuts(
	reader: SettingReader,
	rendezvous: RendezvousConfig,
	warn: Report,
): void {
	const { rdzvConf, shutdownTimeout, nnodes } = OPTIONS;
	if (!reader.sound(rdzvConf, shutdownTimeout, nnodes)) return;
	const problem = timeOutProblem(rendezvous);
	if (problem !== undefined) reader.refuse(rdzvConf, problem);
	const warning = leaseWarning(rendezvous);
	if (warning !== undefined) warn(`${reader.placeOf(rdzvConf)}: ${warning}`);
}

async function checkFiles(
	reader: SettingReader,
	rendezvous: RendezvousConfig,
	cwd: string,
): Promise<void> {
	const files = {
		password_file: rendezvous.passwordFile,
		cacert: rendezvous.caCert,
		cert: rendezvous.cert,
		key: rendezvous.key,
	};
	for (const [name, file] of Object.entries(files)) {
		if (file === undefined) continue;
		const problem = await accessProblem(resolve(cwd, file), constants.R_OK);
		if (problem === undefined) continue;
		reader.refuse(
			OPTIONS.rdzvConf,
			`${name} ${file}: ${FILE_PROBLEMS[problem]}`,
		);
	}
}
