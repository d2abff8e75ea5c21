import { Etcd } from "./etcd.js";
import { playChaos } from "./ledger/chaos.js";

/** How long a run with chaos lasts. */
const MINUTES = 2;
const SMOKE_MINUTES = 0.05;
/** What both the launcher and the trainer see in full. */
const KINDS = ["productive", "repeated", "saving", "loading"];

/** @type {import("./figures.js").Beside} */
const ALL = { name: "the wall time", measure: () => 100 };

/**
 * How right `elastic-run goodput` is.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const LEDGER_FIGURES = [chaosFigure("hard"), chaosFigure("soft")];

/** @returns {import("./figures.js").Figure} */
function chaosFigure(policy) {
	return {
		name: `ledger-chaos-${policy}`,
		title: `all kinds of time of three nodes against their wall time, while workers and agents are killed and frozen, ${policy} policy`,
		unit: "%",
		rounds: 1,
		peers: [],
		needsEtcd: true,
		isApart: true,
		goal: { atMost: 0.001, times: [ALL.name] },
		beside: [ALL],
		async open({ scratch, isSmoke, count }) {
			const minutes = count ?? (isSmoke ? SMOKE_MINUTES : MINUTES);
			const etcd = await Etcd.start(scratch);
			let notes = [];
			return {
				etcd,
				async measure() {
					const { endpoint } = etcd;
					const run = { policy, minutes, scratch, endpoint };
					const played = await playChaos(run);
					notes = compare(played);
					const { told } = played;
					const wall = sum(told.nodes.map(({ from, to }) => to - from));
					return (
						Math.abs(sum(Object.values(told.ledger)) / (wall / 1_000) - 1) * 100
					);
				},
				notes: () => notes,
				close: () => etcd.stop(),
			};
		},
	};
}

/** What goodput says beside what the trainers wrote down. An agent that is killed has written its account up to 10 s before. */
function compare({ told, spent, faults }) {
	const of = (kind, lines) =>
		sum(lines.filter((one) => one.kind === kind).map(({ ms }) => ms)) / 1_000;
	const kills = faults.filter(({ fault }) => fault === "kill-agent");
	const isAtStake = ({ node, at }) =>
		kills.some(
			(kill) => kill.node === node && at <= kill.at && kill.at - at < 10_000,
		);
	const names = faults.map(({ fault }) => fault);
	const done = [...new Set(names)].map(
		(name) => `${names.filter((one) => one === name).length} × ${name}`,
	);
	return [
		`${told.elapsedSeconds.toFixed(0)} s, ${done.join(", ")}; unknown ${told.ledger.unknown.toFixed(1)} s of ${sum(Object.values(told.ledger)).toFixed(1)} s`,
		...KINDS.map((kind) => {
			const [own, all] = [told.ledger[kind], of(kind, spent)];
			const atStake = of(kind, spent.filter(isAtStake));
			const most = all + Math.max(0.05, 0.02 * all);
			const least = all - atStake - Math.max(0.05, 0.02 * all);
			const verdict = own >= least && own <= most ? "right" : "WRONG";
			return `${kind}: ${own.toFixed(2)} s, the trainers say ${all.toFixed(2)} s, of them ${atStake.toFixed(2)} s in the last 10 s of killed agents: ${verdict}`;
		}),
	];
}

function sum(numbers) {
	return numbers.reduce((total, one) => total + one, 0);
}
