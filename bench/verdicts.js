import { Etcd } from "./etcd.js";
import { playCase } from "./verdicts/play.js";
import { POOL } from "./verdicts/pool.js";

/** @type {readonly ("hard" | "soft")[]} */
const POLICIES = ["hard", "soft"];

/** @type {import("./figures.js").Beside} */
const ALL = { name: "all that are played", measure: () => 100 };

/**
 * Whether the launcher ends what no restart helps, and nothing else.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const VERDICT_FIGURES = [
	{
		name: "verdicts",
		title: `right verdicts on ${POOL.length} faults, each under hard and soft`,
		unit: "%",
		rounds: 1,
		peers: [],
		needsEtcd: true,
		isApart: true,
		goal: { atLeast: 0.95, times: [ALL.name] },
		beside: [ALL],
		async open({ scratch, isSmoke }) {
			const pool = isSmoke ? POOL.slice(0, 1) : POOL;
			const etcd = await Etcd.start(scratch);
			const place = { scratch, endpoint: etcd.endpoint };
			let rows = [];
			return {
				etcd,
				async measure() {
					rows = [];
					for (const play of pool) {
						const wrong = [];
						for (const policy of POLICIES) {
							wrong.push(await playCase(play, policy, place));
						}
						rows.push({ play, wrong });
					}
					const all = rows.flatMap(({ wrong }) => wrong);
					const right = all.filter((one) => one === undefined).length;
					return (100 * right) / all.length;
				},
				notes: () => tableOf(rows),
				close: () => etcd.stop(),
			};
		},
	},
];

/** Each fault with its verdict. */
function tableOf(rows) {
	const wordsOf = (wrong) => wrong ?? "right";
	return [
		`| fault | verdict | exit code | ${POLICIES.join(" | ")} |`,
		`|---|---|---|${"---|".repeat(POLICIES.length)}`,
		...rows.map(
			({ play: { name, verdict }, wrong }) =>
				`| ${name} | ${verdict.words} | ${verdict.code} | ${wrong.map(wordsOf).join(" | ")} |`,
		),
	];
}
