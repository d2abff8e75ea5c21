import { describe, expect, it } from "vitest";
import { failed } from "../../../src/http/page/connection.js";
import { headlineOf } from "../../../src/http/page/header.js";
import type { Model } from "../../../src/http/page/model.js";
import type { StatusDocument } from "../../../src/http/status-document.js";
import type { Outcome } from "../../../src/rendezvous/records/records.js";
import { phasesOf } from "../../../src/status/round-times.js";
import type { RunDocument } from "../../../src/status/run-document.js";
import {
	incident,
	pageModel,
	statusDocument,
	timeline,
	worker,
} from "../../helpers/page-model.js";
import {
	findAll,
	hasClass,
	part,
	shownPage,
	type Tree,
	textOf,
} from "../../helpers/page-tree.js";
import { NOW, nodeStatus, runStatus } from "../../helpers/run-status.js";
import { failureRecord, historyRecord } from "../../helpers/run-view.js";

const outcome = (change: Partial<Outcome>): Outcome => ({
	...{ result: "succeeded", exitCode: 0, root: null },
	...{ reason: "all nodes have finished", endedAt: NOW },
	...change,
});

const shown = (
	change: Partial<StatusDocument>,
	run: Partial<RunDocument> = {},
) => shownPage(pageModel({ document: statusDocument(change, run) }));
const rowsOf = (tree: Tree) =>
	findAll(tree, ({ tag }) => tag === "tr").map((row) =>
		row.children.map((cell) => textOf(cell)).join("|"),
	);

it.each<[Partial<RunDocument>, string, string, string]>([
	[
		{ phase: "forming", world: null },
		"busy",
		"forming",
		"the first round is being formed, since 61 s",
	],
	[{}, "good", "running", "round 2, since 61 s: 4 workers on 2 nodes"],
	[
		{ phase: "waiting", since: null },
		...([
			"busy",
			"between rounds",
			"round 2 is over, round 3 has not begun",
		] as const),
	],
	[
		{ phase: "ended", outcome: outcome({}) },
		"good",
		"succeeded",
		"exit code 0, 61 s ago: all nodes have finished",
	],
	[
		{
			phase: "ended",
			since: null,
			outcome: outcome({
				result: "failed",
				exitCode: 1,
				reason: "rank 1\u001b[2J",
			}),
		},
		...(["bad", "failed", "exit code 1: rank 1"] as const),
	],
])("says of %j: %s", (change, standing, word, sentence) => {
	expect(headlineOf(runStatus(change), NOW)).toEqual([
		standing,
		word,
		sentence,
	]);
});

describe("what a reader has to know first", () => {
	const noticesOf = (tree: Tree) =>
		findAll(tree, hasClass("notice")).map(textOf);

	it("is who is waited for, and since when", () => {
		const words =
			"waiting for 1 more node (at least 2): node-a is here; 590 s left";
		const waiting = {
			words,
			since: NOW - 4_000,
			until: null,
			needed: 1,
			missing: [],
		};
		expect(noticesOf(shown({}, { waiting }))).toEqual([
			expect.stringMatching(
				/^Waiting for 1 more node .* leftsince \d\d:\d\d:\d\d \(4 s\)$/,
			),
		]);
	});

	it("is that the agent does not answer, since when, and that all else is old", () => {
		const model = pageModel({ localNow: NOW + 14_000 });
		const connection = failed(model.connection, "Failed to fetch", NOW + 1_000);
		const tree = shownPage({ ...model, connection });
		expect(noticesOf(tree)).toEqual([
			expect.stringMatching(
				/^The agent has not answered since \d\d:\d\d:\d\d \(14 s\)It has ended, or/,
			),
		]);
		expect(findAll(tree, hasClass("badge")).map(textOf)).toEqual([
			"■ last seen running",
		]);
		expect(textOf(tree)).toContain("no answer for 14 s");
		expect(findAll(tree, hasClass("stale"))).toHaveLength(1);
	});

	it("is how the run ended, where its agent has gone with it", () => {
		const document = statusDocument(
			{},
			{ phase: "ended", outcome: outcome({}) },
		);
		const model = pageModel({ document });
		const connection = failed(model.connection, "Failed to fetch", NOW);
		const tree = shownPage({ ...model, connection });
		expect(noticesOf(tree)[0]).toMatch(
			/^The run succeeded, and this agent has gone/,
		);
		expect(findAll(tree, hasClass("badge")).map(textOf)).toEqual([
			"● succeeded",
		]);
	});

	it.each<[string, Partial<Model>, RegExp]>([
		[
			"a token is needed",
			{
				connection: failed(
					pageModel().connection,
					"the token is needed",
					NOW,
					"refused",
				),
			},
			/only with its token.*is needed$/,
		],
		[
			"what is told is old",
			{ document: statusDocument({ problem: "the store does not answer" }) },
			/^What is below may not be of now.*answer$/,
		],
	])("is that %s", (_, change, expected) => {
		expect(noticesOf(shownPage(pageModel(change)))).toEqual([
			expect.stringMatching(expected),
		]);
	});
});

it("gives the run in figures", () => {
	const toStep = { count: 1, meanMs: 34_100, longestMs: 34_100 };
	const repairs = { count: 1, meanMs: 3_900, longestMs: 3_900, toStep };
	const instance = {
		...{ instance: 7, begunAt: NOW - 61_000, endedAt: null, outcome: null },
		...{ incidents: 1, repairs },
		...{ ranMs: 60_000, elapsedMs: 61_000, ranShare: 60 / 61, rounds: [] },
	};
	const history = {
		version: 1,
		runId: "train",
		instances: [instance],
		place: "",
	} as const;
	const document = statusDocument({ history });
	const [tree] = findAll(
		shownPage(pageModel({ document })),
		hasClass("figures"),
	);
	if (tree === undefined) throw new Error("there are no figures");
	const values = findAll(tree, ({ tag }) => tag === "dd").map(textOf);
	expect(values).toEqual(["2", "4", "2", "1", "98.4 %", "34.1 s"]);
	expect(textOf(tree)).toContain("of 3, policy hard");
	expect(textOf(tree)).toContain("to a step beyond; workers ran after 3.9 s");
});

it("D2 gives the budgets of roles, and of the run only what is used where each node has one", () => {
	const reader = {
		...{ allowed: 5, used: 1, left: 4, windowSeconds: 60 },
		nextBackAt: NOW + 2_000,
	};
	const run = { policy: "soft", roleRestarts: { reader } };
	const withUsed = (used: number) => {
		const restarts = { allowed: 3, used, left: 3 - used };
		const document = statusDocument({}, { ...run, restarts });
		return textOf(shownPage(pageModel({ document })));
	};
	const text = withUsed(0);
	expect(text).toContain("restarts left–3 for each node, policy soft; ");
	expect(withUsed(1)).toContain(
		"–3 for each node, 1 used of the run's own, policy soft; ",
	);
	expect(text).toContain(
		"role reader: 4 of 5 in 60.0 s left (the next one comes back in 2.0 s)",
	);
});

describe("the tables", () => {
	it("has a row for each node, with what it is and does", () => {
		const nodes = [
			nodeStatus("node-a", { state: "leaving", cause: "SIGTERM\u001b[2J" }),
			nodeStatus("node-b", {
				state: "gone",
				pid: null,
				since: null,
				workerPids: [],
			}),
			nodeStatus("node-c", {
				part: "spare",
				state: "ready",
				ranks: null,
				workerPids: [],
			}),
			nodeStatus("node-d", {
				part: "refused",
				ranks: [4, 4],
				workerPids: [null, ...Array(9).keys()],
			}),
		];
		expect(rowsOf(part(shown({}, { nodes }), "nodes"))).toEqual([
			"node|ranks|state|since|launcher|workers",
			"node-athis onecoordinates|0–1|leaving (SIGTERM)|60 s|77 on 10.0.0.1|101 102",
			"node-b|0–1|gone|–|–|–",
			"node-c|–|ready (spare)|60 s|77 on 10.0.0.1|–",
			"node-d|4|refused|60 s|77 on 10.0.0.1|– 0 1 2 3 4 5 6 and 2 more",
		]);
	});

	it("says what this node knows by its links, and whether its round rides out an outage", () => {
		const links = {
			heard: ["node-c"],
			suspected: [{ nodeId: "node-b", why: "silent" } as const],
			riding: { since: NOW - 40_000, nodes: 3, heard: 2 },
		};
		const { node } = statusDocument();
		const tree = part(shown({ node: { ...node, links } }), "nodes");
		expect(textOf(tree)).toContain(
			"node-a hears 1 node; not heard: node-b (it says nothing); riding out since 40.0 s, 2 of 3 heard",
		);
		expect(rowsOf(tree)[2]).toContain("node-bnot heard");
		expect(textOf(part(shown({}), "nodes"))).not.toContain("hears");
	});

	it("shows rounds, the newest first, with their phases and causes, and earlier starts apart", () => {
		const { version, ...first } = historyRecord({ liftedAt: NOW - 50_000 });
		const second = {
			...{
				...first,
				round: 2,
				members: ["a", "c"],
				joined: ["c"],
				left: ["b"],
			},
			cause: {
				...({
					kind: "failure",
					changeEvent: null,
					reason: "rank 1 on b: exit code 5",
				} as const),
				root: failureRecord("b", { timestamp: NOW - 20_004, pid: 24150 }),
			},
			...{
				begunAt: NOW - 20_000,
				stoppedAt: NOW - 19_000,
				readyAt: NOW - 18_000,
			},
			...{ liftedAt: NOW - 17_990, startedAt: NOW - 17_490 },
		};
		const instances = [first, second].map((line, index) => ({
			...{
				instance: index,
				begunAt: NOW,
				endedAt: null,
				outcome: null,
				incidents: 0,
			},
			...{ repairs: { count: 0, meanMs: null, longestMs: null }, ranMs: 0 },
			...{ elapsedMs: null, ranShare: null },
			rounds: [
				{
					...line,
					phases: phasesOf(line),
					ranMs: 9_000,
					steps: null,
					starts: [],
				},
			],
		}));
		const history = {
			version: 1,
			runId: "train",
			instances,
			place: "",
		} as const;
		const rows = rowsOf(part(shown({ history }), "rounds"));
		expect(rows[1]).toMatch(
			/^2\|4\|2\|[\d:]+\|4 ms\|1\.0 s\|1\.0 s\|10 ms\|500 ms\|2\.5 s\|9\.0 s\|rank 1 on b: exit code 5 \(pid 24150\) \+ c$/,
		);
		expect(rows[2]).toMatch(/^1\|.*\|earlier startstart$/);
	});

	it("shows incidents, the newest first, with what is known of their cause", () => {
		const incidents = [
			incident({ message: "out of memory", hint: "see dmesg" }),
			incident({
				at: NOW,
				kind: "scale-down",
				round: 2,
				rank: null,
				pid: null,
				reason: "two left",
				nodes: ["b", "c"],
			}),
		];
		const dropped = { nodes: 0, rounds: 0, incidents: 3, spansBefore: null };
		const section = part(
			shown({ timeline: timeline({ incidents, dropped }) }),
			"incidents",
		);
		expect(rowsOf(section)).toEqual([
			"when|what|round|why",
			expect.stringMatching(/\|a node left\|2\|two left − b, c$/),
			expect.stringMatching(
				/\|failure\|1\|rank 1 on node-b: exit code 5 \(pid 99\)out of memorysee dmesg$/,
			),
		]);
		expect(textOf(section)).toContain("2 entries, 3 earlier ones are not kept");
	});

	it("shows each worker's last lines as text, whatever they are", () => {
		const attack =
			"\u001b[31m<img src=x onerror=alert(1)><script>alert(2)</script>";
		const node = {
			...statusDocument().node,
			workers: [worker({ lastLines: ["step 1", attack] })],
		};
		const section = part(shown({ node }), "workers");
		const [lines] = findAll(section, ({ tag }) => tag === "pre");
		expect(lines?.children).toEqual([
			"step 1\n<img src=x onerror=alert(1)><script>alert(2)</script>",
		]);
		expect(
			findAll(section, ({ tag }) => tag === "img" || tag === "script"),
		).toEqual([]);
	});
});

describe("control", () => {
	const document = statusDocument({ control: true });
	const controlOf = (change: Partial<Model>) =>
		part(shownPage(pageModel(change)), "control");
	const actionsOf = (tree: Tree) =>
		findAll(tree, ({ tag }) => tag === "button").map((button) =>
			button.attributes.disabled
				? `${textOf(button)} disabled`
				: textOf(button),
		);
	const token = "secret";

	it("is not there where the launcher has no token", () => {
		const control = { token, asking: null, said: null };
		expect(actionsOf(shownPage(pageModel({ control })))).toEqual([
			"5 min",
			"1 h",
			"all",
		]);
	});

	it.each<[string, Model["control"], readonly string[]]>([
		[
			"asks for the token first",
			{ token: null, asking: null, said: null },
			["Use"],
		],
		[
			"then offers to leave and to stop",
			{ token, asking: null, said: null },
			["Make node-a leave …", "Stop the run …", "Forget the token"],
		],
		[
			"asks whether that is meant",
			{ token, asking: "stop", said: null },
			["Stop the run", "Cancel"],
		],
	])("%s", (_, control, expected) => {
		const section = controlOf({ document, control });
		expect(actionsOf(section)).toEqual(expected);
		expect(JSON.stringify(section)).not.toContain(token);
	});

	it("says what came of it, and cannot be used while nobody answers", () => {
		const control = { token, asking: null, said: "the run is being stopped" };
		expect(textOf(controlOf({ document, control }))).toContain("being stopped");
		const connection = failed(pageModel().connection, "no", NOW);
		expect(actionsOf(controlOf({ document, control, connection }))).toEqual([
			"Make node-a leave … disabled",
			"Stop the run … disabled",
			"Forget the token",
		]);
	});
});

describe("C4 the last failure", () => {
	const root = failureRecord("node-a", {
		...{ rank: 1, pid: 99, round: 1, timestamp: NOW - 5_000 },
		description: "ValueError: bad batch 12, at train.py:51",
		hint: "look there",
	});
	const lastIncident = { ...{ round: 1, at: NOW, reason: "rank 1" }, root };

	it("is a card with its exception and the end of its log", () => {
		const failedLines = ["Traceback", "ValueError: bad\u001b[2J batch 12"];
		const card = part(shown({ failedLines }, { lastIncident }), "failure");
		expect(textOf(card)).toBe(
			"The last failurerank 1 on node-a (pid 99), round 1, 5 s agoValueError: bad batch 12, at train.py:51look thereTraceback\nValueError: bad batch 12",
		);
	});

	it("is that which ended the run, and says where its log is", () => {
		const last = failureRecord("node-b", { description: "exit code 3" });
		const tree = shown({}, { lastIncident, outcome: outcome({ root: last }) });
		expect(textOf(part(tree, "failure"))).toMatch(
			/exit code 3.*Its log is on node-b\.$/,
		);
		expect(part(shown({}), "failure").tag).toBe("nothing");
	});
});

it.each([
	["running", "Nothing has ended a round."],
	["waiting", "What ended round 2 stands here once the next one has begun."],
] as const)("C12 a run that is %s does not contradict its headline: %s", (phase, words) => {
	const none = timeline({ incidents: [] });
	const section = part(shown({ timeline: none }, { phase }), "incidents");
	expect(textOf(section)).toContain(words);
});
