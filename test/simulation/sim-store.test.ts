import { describeStore } from "../contract/store-contract.js";
import { openLink } from "./link.js";
import { startOf } from "./process-history.js";
import { Random } from "./random.js";
import { SimEtcd } from "./sim-etcd.js";
import { SimProcess } from "./sim-process.js";
import { SimStore } from "./sim-store.js";
import { Timeline } from "./timeline.js";

/** How much simulated time passes in one go, while the tests wait for it, in milliseconds. */
const STEP_MS = 10;
const HEAD_START_MS = 60_000;

// What agents are tried on keeps the promises of the real stores, where nothing disturbs it.
describeStore("the simulated store", async () => {
	const random = new Random(1);
	const timeline = new Timeline();
	const etcd = new SimEtcd(timeline, random, {
		transaction: () => () => {},
		leaseEnds: () => {},
	});
	const who = { nodeId: "a", incarnation: "a.0" };
	const history = startOf({ ...who, role: "r", localWorldSize: 1 }, 0);
	const process = new SimProcess(history, timeline, random);
	const link = openLink();
	const doublesHints = true;
	const place = { etcd, timeline, random, process, link, doublesHints };
	const store = new SimStore(place);
	let isOpen = true;
	const letTimePass = async (): Promise<void> => {
		while (isOpen) await timeline.runUntil(timeline.now + STEP_MS);
	};
	// Its clock is never behind the real one, by which the promises are checked.
	await timeline.runUntil(performance.now() + HEAD_START_MS);
	const over = letTimePass();
	return {
		store,
		prefix: "/elastic-run/contract/",
		close: async () => {
			await store.close();
			isOpen = false;
			await over;
		},
	};
});
