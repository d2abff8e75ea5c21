import { describe, expect, it } from "vitest";
import type { NodeLinks } from "../../../src/model/index.js";
import type {
	NodeStatus,
	RunDocument,
} from "../../../src/status/run-document.js";
import { formatRuns, formatStatus } from "../../../src/status/status-text.js";
import { linksInWords } from "../../../src/status/words.js";
import { NOW, nodeStatus, runStatus } from "../../helpers/run-status.js";
import { failureRecord } from "../../helpers/run-view.js";

const GONE: Partial<NodeStatus> = {
	state: "gone",
	since: null,
	pid: null,
	address: null,
	hostId: null,
	workerPids: [],
};

const FORMING = {
	phase: "forming",
	round: 0,
	world: null,
	minNodes: 2,
} as const;

const waits = (nodeId: string) =>
	nodeStatus(nodeId, { part: "waiting", state: "ready", ranks: null });

describe("a run in words", () => {
	it("tells its phase, figures, budget, last incident, what it waits for, and its nodes in a table", () => {
		const shown = formatStatus(
			runStatus({
				phase: "leaving",
				lastIncident: {
					round: 2,
					at: NOW - 5_000,
					reason: "rank 0 on node-a: exit code 1",
					root: failureRecord("node-a"),
				},
				waiting: {
					words: "waiting for node-b: node-a is here; 30 s left",
					since: NOW - 5_000,
					until: NOW + 30_000,
					needed: 0,
					missing: ["node-b"],
				},
				nodes: [
					nodeStatus("node-a", { state: "ready", workerPids: [] }),
					nodeStatus("b", {
						...{ role: "reader", ranks: [2, 2], pid: 123_456 },
						workerPids: [103, null],
					}),
					nodeStatus("c", { ...GONE, ranks: null }),
					nodeStatus("d", { part: "spare", state: "ready", ranks: null }),
				],
			}),
			NOW,
		);
		expect(shown).toBe(`\
run train: its round is being left, round 2, since 61.0 s
  4 workers on 2 nodes (nnodes 1:3), master 10.0.0.1:4000, node-a coordinates
  policy hard, 1 incident, 2 of 3 restarts left
  last incident: rank 0 on node-a: exit code 1 (pid 100), round 2, 5.0 s ago
  waiting for node-b: node-a is here; 30 s left; since 5.0 s

node    role     ranks  state          since   launcher            workers
node-a  default  0-1    ready          60.0 s  77 on 10.0.0.1      -
b       reader   2      running        60.0 s  123456 on 10.0.0.1  103 -
c       default  -      gone           -       -                   -
d       default  -      ready (spare)  60.0 s  77 on 10.0.0.1      101 102
`);
	});

	it("A10 tells who keeps it from its steps", () => {
		const suspect = {
			...{ rank: 2, node: "b", where: "train.py:41 in load_batch" },
			why: "it has not entered gloo:all_reduce",
		};
		const shown = formatStatus(
			runStatus({
				hang: { kind: "hung", since: NOW - 35_000, suspect },
				busy: [
					{ rank: 0, what: "saves a checkpoint", since: NOW - 40_000 },
					{ rank: 1, what: "evaluates", since: NOW - 5_000 },
					{ rank: 3, what: "evaluates", since: NOW - 6_000 },
				],
				straggler: {
					...{ rank: 2, node: "b", lostSecondsPerStep: 0.031 },
					...{ lostSeconds: 12.4, since: NOW },
				},
			}),
			NOW,
		);
		expect(shown.split("\n").slice(3, 7)).toEqual([
			"  no step for 35.0 s: rank 2 on b: it has not entered gloo:all_reduce, at train.py:41 in load_batch",
			"  rank 0 saves a checkpoint since 40.0 s",
			"  rank 1 evaluates since 6.0 s (and 1 more rank)",
			"  each step waits for rank 2 on b: 31 ms, 12.4 s in all",
		]);
	});

	it.each<[string, Partial<RunDocument>, string]>([
		["one of two", { nodes: [waits("a")] }, "waiting for 2 nodes"],
		["enough", { nodes: [waits("a"), waits("b")] }, "waiting for the round"],
	])("a node that is ready while no round is whole: %s", (_, status, words) => {
		const run = { ...FORMING, ...status };
		expect(formatStatus(runStatus(run), NOW)).toMatch(
			new RegExp(`^a +default +- +${words} `, "m"),
		);
		const ended = runStatus({
			...{ ...run, phase: "ended" },
			outcome: { result: "failed", exitCode: 3, reason: "x", root: null },
		});
		expect(formatStatus(ended, NOW)).not.toContain("waiting for");
	});

	it.each<[string, Partial<RunDocument>, string]>([
		["waiting", { phase: "waiting" }, "between two rounds, round 2"],
		[
			"abandoned",
			{ phase: "abandoned", since: null },
			"not ended, but has no agents, round 2",
		],
		[
			"of a fixed size",
			{ minNodes: 2, maxNodes: 2, coordinator: null },
			"4 workers on 2 nodes (nnodes 2), master 10.0.0.1:4000\n",
		],
		[
			"ended",
			{
				phase: "ended",
				outcome: {
					...{ result: "failed", exitCode: 1, root: null },
					reason: "spent",
				},
			},
			"\n  failed, exit code 1: spent\n",
		],
	])("%s", (_, change, words) => {
		expect(formatStatus(runStatus(change), NOW)).toContain(words);
	});

	it("D2 tells when the next restart of a node and of a role comes back", () => {
		const budget = { allowed: 3, used: 2, left: 1, windowSeconds: 3_600 };
		const restarts = { ...budget, nextBackAt: NOW + 120_000 };
		const shown = formatStatus(
			runStatus({
				nodes: [nodeStatus("a", { restarts })],
				roleRestarts: { reader: restarts },
			}),
			NOW,
		);
		const back = "(the next one comes back in 2 min 0 s)";
		expect(shown.split("\n").at(-2)).toContain(` 1 ${back}  101 102`);
		expect(shown).toContain(`, role reader: 1 of 3 in 1 h 0 min left ${back}`);
	});

	it("keeps what others wrote from the terminal", () => {
		const cause = "\x1b[31mred\nline";
		const nodes = [nodeStatus("a", { state: "leaving", cause })];
		expect(formatStatus(runStatus({ nodes }), NOW)).toContain(
			"leaving (red line)",
		);
	});
});

describe("several runs in words", () => {
	it("are a table of one line each", () => {
		const outcome: RunDocument["outcome"] = {
			result: "stopped",
			exitCode: 5,
			reason: "stopped",
			root: null,
		};
		const runs = [
			{
				status: runStatus({ nodes: [nodeStatus("a"), nodeStatus("b", GONE)] }),
				place: "h:1",
			},
			{
				status: runStatus({ runId: "other-one", outcome, since: null }),
				place: "/d",
			},
			{
				status: runStatus({ runId: "kept", outcome, since: null }),
				place: "/home/me/.local/state/elastic-run/1795618994280-a571c102.json",
				isRecord: true as const,
			},
		];
		expect(formatRuns(runs, NOW)).toBe(`\
run        phase    round  agents  since   where
train      running  2      1       61.0 s  h:1
other-one  stopped  2      0       -       /d
kept       stopped  2      0       -       ended here
`);
	});
});

it.each<[Partial<NodeLinks>, string]>([
	[{ heard: ["b"] }, "hears 1 node"],
	[
		{
			suspected: [
				{ nodeId: "b", why: "closed" },
				{ nodeId: "c", why: "silent" },
			],
		},
		"hears 0 nodes; not heard: b (its link was closed), c (it says nothing)",
	],
	[
		{
			heard: ["b", "c"],
			riding: { since: NOW - 40_000, nodes: 3, heard: 3 },
		},
		"hears 2 nodes; riding out since 40.0 s, 3 of 3 heard",
	],
])("what is known by links, in words: %j", (links, words) => {
	const none = { heard: [], suspected: [], riding: null };
	expect(linksInWords({ ...none, ...links }, NOW)).toBe(words);
});
