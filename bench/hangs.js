import { Etcd } from "./etcd.js";
import { LIMIT_S, play, SMOKE_LIMIT_S } from "./hangs/play.js";
import { canImportTorch } from "./launchers.js";

const RANKS = 4;
const STEPS = 10;
/** How often each kind is made. */
const COUNT = 5;
/** @type {readonly { trainer: string, kinds: readonly string[] }[]} */
const TRAINERS = [
	{
		trainer: "train.py",
		kinds: [
			...["sleep", "spin", "lock", "socket", "stopped"],
			...["gil", "collective", "loader"],
		],
	},
	{ trainer: "train.js", kinds: ["blocked", "promise"] },
];
const SMOKE = { trainer: "train.js", kinds: ["blocked"] };

/** @type {import("./figures.js").Beside} */
const ALL = { name: "all that are judged", measure: () => 100 };

/**
 * Whether the launcher names the rank and the line at which a run hangs.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const HANG_FIGURES = [
	{
		name: "hangs",
		title: `hangs of 4 ranks on two agents whose rank and line are named, --hang-timeout ${LIMIT_S} s`,
		unit: "%",
		rounds: 1,
		peers: [],
		needsEtcd: true,
		isApart: true,
		goal: { atLeast: 0.95, times: [ALL.name] },
		beside: [ALL],
		async open({ scratch, isSmoke, count = isSmoke ? 1 : COUNT }) {
			const etcd = await Etcd.start(scratch);
			/** @type {import("./hangs/play.js").Finding[]} */
			const findings = [];
			/** @type {import("./hangs/play.js").Miss[]} */
			const misses = [];
			return {
				etcd,
				async measure() {
					for (const { trainer, kinds } of isSmoke ? [SMOKE] : TRAINERS) {
						if (trainer.endsWith(".py") && !canImportTorch()) continue;
						const plan = planOf(kinds, count);
						const limitS = isSmoke ? SMOKE_LIMIT_S : LIMIT_S;
						const { endpoint } = etcd;
						const run = { trainer, plan, scratch, endpoint, limitS };
						const played = await play(run);
						for (const one of played) {
							if ("ending" in one) misses.push(one);
							else findings.push(one);
						}
					}
					const right = findings.filter(({ wrong }) => wrong === undefined);
					return (100 * right.length) / findings.length;
				},
				notes: () => [
					`${findings.length} of ${findings.length + misses.length} hangs were judged`,
					...misses.map(
						({ fault, ending }) =>
							`${fault.kind} of rank ${fault.rank} was not: ${ending}`,
					),
					...notesOf(findings),
				],
				close: () => etcd.stop(),
			};
		},
	},
];

/** All kinds in turn; each kind hangs in another rank each time, at some step. */
function planOf(kinds, count) {
	return Array.from({ length: count }, (_, time) =>
		kinds.map((kind, index) => ({
			kind,
			rank: (time + index) % RANKS,
			step: 2 + Math.floor(Math.random() * (STEPS - 2)),
		})),
	).flat();
}

function notesOf(findings) {
	const kinds = [...new Set(findings.map(({ fault }) => fault.kind))];
	const mostNoticed = 1.1 * LIMIT_S * 1_000 + 500;
	return [
		`noticed after ${spread(findings.map(({ noticed }) => noticed))}, goal ≤ ${mostNoticed} ms`,
		`evidence and verdict took ${spread(findings.map(({ asked }) => asked))}, goal ≤ 500 ms`,
		...kinds.map((kind) => {
			const own = findings.filter(({ fault }) => fault.kind === kind);
			const wrong = own.flatMap((one) => one.wrong ?? []);
			return `${kind}: ${own.length - wrong.length} of ${own.length} right, noticed after ${spread(own.map(({ noticed }) => noticed))}, evidence ${spread(own.map(({ asked }) => asked))}${wrong.map((words) => `; ${words}`).join("")}`;
		}),
	];
}

function spread(samples) {
	const known = samples.filter((one) => !Number.isNaN(one));
	const sorted = known.sort((left, right) => left - right);
	const at = (part) => sorted[Math.ceil(part * sorted.length) - 1]?.toFixed(0);
	return `${at(0.5)} ms (${at(0.01)}–${at(1)}, p95 ${at(0.95)})`;
}
