import {
	type WorkerEvent,
	type WorkerInfo,
	workerInfoOf,
} from "../channel/index.js";
import { NotLaunchedError } from "./not-launched-error.js";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The only event of a process that another launcher has started with torchrun's variables. RANK and WORLD_SIZE are
 * required; for the rest, one process per node is assumed. `timestamp`: milliseconds since 1970. Throws NotLaunchedError
 * if a variable is missing or no whole number.
 */
export function eventFromVariables(
	variables: Variables,
	timestamp: number,
): WorkerEvent {
	const workerInfo = infoFromVariables(variables);
	return {
		sequence: 1,
		timestamp,
		kind: "WORK",
		workerState: "HEALTHY",
		changeEvent: null,
		instance: 0,
		round: workerInfo.round,
		reason: "started by another launcher",
		workerInfo,
	};
}

function infoFromVariables(variables: Variables): WorkerInfo {
	const integer = (name: string, otherwise?: number) =>
		integerOf(variables, name, otherwise);
	const rank = integer("RANK");
	const worldSize = integer("WORLD_SIZE");
	const restartCount = integer("TORCHELASTIC_RESTART_COUNT", 0);
	return workerInfoOf({
		localRank: integer("LOCAL_RANK", 0),
		roleRank: integer("ROLE_RANK", rank),
		rank,
		localWorldSize: integer("LOCAL_WORLD_SIZE", 1),
		roleWorldSize: integer("ROLE_WORLD_SIZE", worldSize),
		worldSize,
		groupRank: integer("GROUP_RANK", rank),
		groupWorldSize: integer("GROUP_WORLD_SIZE", worldSize),
		role: variables.ROLE_NAME ?? "default",
		masterAddr: variables.MASTER_ADDR ?? "127.0.0.1",
		masterPort: integer("MASTER_PORT", 29500),
		round: restartCount + 1,
		restartCount,
		runId: variables.TORCHELASTIC_RUN_ID ?? "none",
	});
}

function integerOf(
	variables: Variables,
	name: string,
	otherwise: number | undefined,
): number {
	const text = variables[name] ?? "";
	if (text === "" && otherwise !== undefined) return otherwise;
	if (/^\d+$/.test(text)) return Number(text);
	throw new NotLaunchedError(
		text === ""
			? `${name} is not set, and neither is ELASTIC_RUN_CHANNEL`
			: `${name} is "${text}", which is not a whole number`,
	);
}
