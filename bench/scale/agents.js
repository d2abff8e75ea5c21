// Many agents of one run in one process, over one connection to etcd.
// Usage: agents.js ENDPOINT FIRST COUNT SIZE, with a channel to who measures them:
// it is told when all of these agents have started the workers of a round
// ("started"), and have said so in the store ("settled").
import { systemClock } from "../../src/base/clock.ts";
import { openEtcdStore } from "../../src/rendezvous/store/etcd/etcd-store.ts";
import { BareAgent } from "./bare-agent.js";
import { SharedStore } from "./shared-store.js";

/** Long, as it should be for so many agents at one etcd. */
const LEASE_TTL_MS = 30_000;

const [endpoint, ...numbers] = process.argv.slice(2);
const [first, count, size] = numbers.map(Number);

const store = new SharedStore(
	await openEtcdStore({
		endpoints: [endpoint],
		clock: systemClock,
		random: Math.random,
	}),
);
const progress = { started: new Map(), settled: new Map() };
store.onRecord = ({ nodeId, state, claim }) => {
	if (state === "running") note("settled", nodeId, claim);
};
const agents = Array.from(
	{ length: count },
	(_, index) =>
		new BareAgent(`node-${String(first + index).padStart(5, "0")}`, {
			store,
			runId: "scale",
			size,
			leaseTtlMs: LEASE_TTL_MS,
			onStarted: (nodeId, round) => note("started", nodeId, round),
			onError(error) {
				console.error(error);
				process.exit(1);
			},
		}),
);

process.on("message", ({ kind, index }) => {
	if (kind === "fail") {
		process.send({ kind: "failed", at: wallTime() });
		agents[index].failWorker();
	}
	if (kind === "costs") process.send({ kind, ...costs() });
});
process.once("disconnect", () => process.exit());
await Promise.all(agents.map((agent) => agent.start()));

function note(kind, nodeId, round) {
	const those = progress[kind].get(round) ?? new Set();
	if (those.has(nodeId)) return;
	progress[kind].set(round, those.add(nodeId));
	if (those.size < agents.length) return;
	process.send({ kind, round, at: wallTime() });
}

function costs() {
	const { user, system } = process.cpuUsage();
	const { events } = store.metrics;
	return { ...store.counts, events, agentsMs: (user + system) / 1_000 };
}

/** Milliseconds since 1970, with their fractions. */
function wallTime() {
	return performance.timeOrigin + performance.now();
}
