import { pause } from "../../base/back-off.js";
import { ElasticRunError, systemErrorCode } from "../../base/errors.js";
import { findKnownAgents } from "../find-agent.js";
import type { Searcher } from "../status/find-runs.js";
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

/** How often to look for processes, in milliseconds. */
const LOOK_EVERY_MS = 50;
/** A run without a launcher on this machine for this long counts as over here, in milliseconds. */
const ABSENT_MS = 5_000;

export interface ChaosOptions extends ChaosPlan {
	readonly runId: string;
	/** How long it lasts, in milliseconds; null: until the run has ended here, or all faults are made. */
	readonly forMs: number | null;
	readonly random: () => number;
	/** Aborted to end it early. */
	readonly stop: AbortSignal;
	/** Called with each fault that was made. */
	readonly onAct: (act: Act) => void;
	/** Called with an aim that was gone when its fault was due. */
	readonly onMissed: (aim: Aim) => void;
}

export interface ChaosReport {
	/** How many faults were made. */
	readonly faults: number;
	/** Aims that were never seen on this machine. */
	readonly unmet: readonly Aim[];
}

/**
 * Injects faults into the processes of a run on this machine until its time is over. Frozen processes continue before it
 * ends.
 * @throws ElasticRunError USAGE if no launcher of the run is on this machine
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

/** False if the process has ended meanwhile. */
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
