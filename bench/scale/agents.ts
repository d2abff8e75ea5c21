// Many agents of one run in one process, over one connection to etcd.
// Usage: agents.js ENDPOINT FIRST COUNT SIZE, with a channel to who measures them:
// it is told when all of these agents have started the workers of a round
// ("started"), and have said so in the store ("settled").
import { systemClock } from "../../src/base/clock.js";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.js";
import { BareAgent } from "./bare-agent.js";
import { SharedStore } from "./shared-store.js";

/** Long, as it should be for so many agents at one etcd. */
const LEASE_TTL_MS = 30_000;

/** What these agents are asked for. */
export type Asked =
	| { readonly kind: "fail"; readonly index: number }
	| { readonly kind: "costs" };

/** What the agents of a process cost since its start, in events, calls and milliseconds. */
export interface AgentCosts {
	readonly looks: number;
	readonly writes: number;
	readonly events: number;
	readonly agentsMs: number;
}

/** What they say; `at` is in milliseconds since 1970, with their fractions. */
export type Said =
	| { readonly kind: "failed"; readonly at: number }
	| {
			readonly kind: "started" | "settled";
			readonly round: number;
			readonly at: number;
	  }
	| ({ readonly kind: "costs" } & AgentCosts);

const [endpoint = "", ...numbers] = process.argv.slice(2);
const [first = 0, count = 0, size = 0] = numbers.map(Number);

const store = new SharedStore(
	await openEtcdStore({
		endpoints: [endpoint],
		clock: systemClock,
		random: Math.random,
	}),
);
const progress = {
	started: new Map<number, Set<string>>(),
	settled: new Map<number, Set<string>>(),
};
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

process.on("message", (asked: Asked) => {
	if (asked.kind === "costs") say({ kind: "costs", ...costs() });
	else {
		say({ kind: "failed", at: wallTime() });
		agents[asked.index]?.failWorker();
	}
});
process.once("disconnect", () => process.exit());
await Promise.all(agents.map((agent) => agent.start()));

function note(
	kind: "started" | "settled",
	nodeId: string,
	round: number,
): void {
	const those = progress[kind].get(round) ?? new Set();
	if (those.has(nodeId)) return;
	progress[kind].set(round, those.add(nodeId));
	if (those.size === agents.length) say({ kind, round, at: wallTime() });
}

function say(said: Said): void {
	process.send?.(said);
}

function costs(): AgentCosts {
	const { user, system } = process.cpuUsage();
	const { events } = store.metrics;
	return { ...store.counts, events, agentsMs: (user + system) / 1_000 };
}

function wallTime(): number {
	return performance.timeOrigin + performance.now();
}
