import { ElasticRunError, systemErrorCode } from "../../../errors.js";
import { pause } from "../../../rendezvous/back-off.js";
import type { Searcher } from "../../status/find-runs.js";
import { findKnownAgents } from "../find-agent.js";
import { findVictims } from "./find-victims.js";
import {
	type Act,
	type Aim,
	beginChaos,
	type ChaosPlan,
	isOver,
	planChaos,
	thawAll,
} from "./plan-chaos.js";

/** How often it is looked who is there, in milliseconds. */
const LOOK_EVERY_MS = 50;
/** So long a run may have no launcher on this machine before it counts as over here, in milliseconds. */
const ABSENT_MS = 5_000;

export interface ChaosOptions extends ChaosPlan {
	readonly runId: string;
	/** How long it goes on, in milliseconds; null: until the run has ended here, or all is done. */
	readonly forMs: number | null;
	readonly random: () => number;
	/** Aborted when it is to end early. */
	readonly stop: AbortSignal;
	/** Told of each fault that was made. */
	readonly onAct: (act: Act) => void;
	/** Told of an aim that was gone when its fault was due. */
	readonly onMissed: (aim: Aim) => void;
}

export interface ChaosReport {
	/** How many faults were made. */
	readonly faults: number;
	/** Aims that were never seen on this machine. */
	readonly unmet: readonly Aim[];
}

/**
 * Makes faults among the processes of a run on this machine, until its time is
 * over. Whatever is frozen goes on before it ends.
 * @throws ElasticRunError USAGE where no launcher of the run is on this machine
 */
export async function runChaos(
	options: ChaosOptions,
	searcher: Searcher,
): Promise<ChaosReport> {
	const { clock } = searcher;
	const { runId, random, stop } = options;
	const begunAt = clock.now();
	let seenAt = begunAt;
	let state = beginChaos(options, begunAt, random);
	let faults = 0;
	const find = () => findKnownAgents({ runId, nodeId: undefined }, searcher);
	if (find().length === 0) throw nobodyHere(runId);
	try {
		while (!stop.aborted && !isOver(state)) {
			const now = clock.now();
			if (options.forMs !== null && now - begunAt >= options.forMs) break;
			const agents = find();
			if (agents.length > 0) seenAt = now;
			else if (now - seenAt >= ABSENT_MS) break;
			const victims = findVictims(agents);
			const step = planChaos(options, state, victims, now, random);
			state = step.state;
			for (const aim of step.missed) options.onMissed(aim);
			const made = step.acts.filter(act);
			faults += made.filter(({ kind }) => kind !== "continue").length;
			for (const one of made) options.onAct(one);
			await pause(clock, LOOK_EVERY_MS);
		}
	} finally {
		for (const one of thawAll(state).filter(act)) options.onAct(one);
	}
	return { faults, unmet: state.pending };
}

/** False where the process has ended meanwhile. */
function act({ pid, signal }: Act): boolean {
	try {
		return process.kill(pid, signal);
	} catch (error) {
		if (systemErrorCode(error) === "ESRCH") return false;
		throw error;
	}
}

function nobodyHere(runId: string): ElasticRunError {
	return new ElasticRunError(
		"USAGE",
		`no launcher of run ${runId} is on this machine; faults are made among the processes of this machine only`,
	);
}
