import { CUT_OFF } from "./agent-faults.js";
import { aWhile, type Fault } from "./faulty-run.js";
import type { Link } from "./link.js";

/** The part of the runs in which data may be lost: hardly anything of such a run is left to be looked at. */
const WIPED_PART = 0.1;

export const STORE_FAULTS: Readonly<Record<string, Fault>> = {
	storeDown: (run) => {
		const durationMs = aWhile(run);
		for (const agent of run.living()) {
			run.disturb(agent, durationMs, CUT_OFF);
		}
	},
	/** Some agents reach the store, the others do not, or in one direction only. */
	partition: (run) => {
		const durationMs = aWhile(run);
		const oneWay = run.random.pick<Partial<Link>>([
			{ requestsLost: true },
			{ answersLost: true },
			CUT_OFF,
		]);
		for (const agent of run.living()) {
			if (run.random.chance(0.5)) run.disturb(agent, durationMs, oneWay);
		}
	},
	storeRestarts: (run) => run.store.restart(run.random.between(500, 4_000)),
	storeFrozen: (run) => run.store.freeze(aWhile(run)),
	leaderLost: (run) => run.store.loseLeader(run.random.between(1_300, 2_300)),
	compaction: (run) => run.store.compact(),
	noCoordinator: (run) => run.store.deleteCoordinator(),
	noRecord: (run, { history }) => {
		if (run.random.chance(0.3)) run.store.deleteRecord(history.nodeId);
	},
	wipe: (run) => {
		if (!run.random.chance(WIPED_PART)) return;
		if (run.random.chance(0.3)) run.store.deleteRun();
		else run.store.wipe(run.random.between(500, 4_000));
	},
};
