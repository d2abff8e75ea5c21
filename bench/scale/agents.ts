// Many agents of one run in one process, over one connection to etcd.
// Usage: agents.js ENDPOINT FIRST COUNT SIZE [links], with a channel to who measures them:
// it is told how many agents know that a round is left ("told"), have started the workers
// of a round ("started"), and how many of their records this process has written ("settled").
import { systemClock } from "../../src/base/clock.js";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.js";
import { BareAgent } from "./bare-agent.js";
import { SharedStore } from "./shared-store.js";

/** Long, as it should be for so many agents at one etcd. */
const LEASE_TTL_MS = 60_000;

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

type ProgressKind = "told" | "started" | "settled";

interface Progress {
	readonly kind: ProgressKind;
	readonly round: number;
	/** How many more. */
	readonly count: number;
	readonly at: number;
}

/** What they say; `at` is in milliseconds since 1970, with their fractions. */
export type Said =
	| { readonly kind: "failed"; readonly at: number }
	| Progress
	| ({ readonly kind: "costs" } & AgentCosts);

const [endpoint = "", ...numbers] = process.argv.slice(2);
const [first = 0, count = 0, size = 0] = numbers.map(Number);
const areLinked = numbers.at(-1) === "links";

const store = new SharedStore(
	await openEtcdStore({
		endpoints: [endpoint],
		clock: systemClock,
		random: Math.random,
	}),
);
const progress = {
	told: new Map<number, Set<string>>(),
	started: new Map<number, Set<string>>(),
	settled: new Map<number, Set<string>>(),
};
const toSay = new Map<string, Progress>();
store.onRecord = ({ nodeId, state, claim }) => {
	if (state === "running") note("settled", nodeId, claim);
};
const agents = await Promise.all(
	Array.from({ length: count }, (_, index) =>
		BareAgent.open(`node-${String(first + index).padStart(5, "0")}`, {
			store,
			runId: "scale",
			size,
			leaseTtlMs: LEASE_TTL_MS,
			areLinked,
			onTold: (nodeId, round) => note("told", nodeId, round),
			onStarted: (nodeId, round) => note("started", nodeId, round),
			onError(error) {
				console.error(error);
				process.exit(1);
			},
		}),
	),
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

function note(kind: ProgressKind, nodeId: string, round: number): void {
	const those = progress[kind].get(round) ?? new Set();
	if (those.has(nodeId)) return;
	progress[kind].set(round, those.add(nodeId));
	const at = wallTime();
	const name = `${kind} ${round}`;
	const count = (toSay.get(name)?.count ?? 0) + 1;
	if (toSay.size === 0) setImmediate(sayAll);
	toSay.set(name, { kind, round, count, at });
}

/** Not each agent alone: that would take longer than what is measured. */
function sayAll(): void {
	for (const said of toSay.values()) say(said);
	toSay.clear();
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
