import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Etcd } from "./etcd.js";
import { CLI } from "./launchers.js";
import { playChaos } from "./ledger/chaos.js";

const TRAINER = fileURLToPath(new URL("ledger/trainer.js", import.meta.url));
/** How long a run with chaos lasts. */
const MINUTES = 2;
const SMOKE_MINUTES = 0.05;
/** What both the launcher and the trainer see in full. */
const KINDS = ["productive", "repeated", "saving", "loading"];

/**
 * How right `elastic-run goodput` is.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const LEDGER_FIGURES = [
	{
		name: "ledger",
		title:
			"the kind of time in which goodput differs the most from what the trainer wrote down, in a run that fails once",
		unit: "ms",
		rounds: 3,
		peers: [],
		goal: { atMost: 50 },
		async open(place) {
			/** @type {Record<string, number>} */
			const differences = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
			let missing = 0;
			return {
				measure() {
					const { told, written } = train(place);
					const all = Object.values(told.ledger).reduce((a, b) => a + b, 0);
					missing = Math.max(missing, Math.abs(all / told.elapsedSeconds - 1));
					const found = KINDS.map((kind) => {
						const ms = Math.abs(told.ledger[kind] * 1_000 - written[kind]);
						differences[kind] = Math.max(differences[kind], ms);
						return ms;
					});
					return Math.max(...found);
				},
				notes: () => [
					`at most, in ms: ${Object.entries(differences)
						.map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`)
						.join(", ")}`,
					`all kinds together differ from the wall time by ${(missing * 100).toFixed(3)} %`,
				],
				async close() {},
			};
		},
	},
	chaosFigure("hard"),
	chaosFigure("soft"),
];

/** @returns {import("./figures.js").Figure} */
function chaosFigure(policy) {
	return {
		name: `ledger-chaos-${policy}`,
		title: `all kinds of time of three nodes against their wall time, while workers and agents are killed and frozen, ${policy} policy`,
		unit: "%",
		rounds: 1,
		peers: [],
		needsEtcd: true,
		goal: { atMost: 0.1 },
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

/** A run of one worker: what goodput says of it, and the milliseconds that the worker wrote down, by kind. */
function train({ scratch }) {
	const directory = mkdtempSync(join(scratch, "ledger-"));
	const env = { ...process.env, XDG_STATE_HOME: directory };
	const flags = ["--run-id", "bench-ledger", "--log-dir", directory];
	elasticRun([...flags, TRAINER, directory], env);
	const ask = ["goodput", "bench-ledger", "--output", "json"];
	const told = JSON.parse(elasticRun(ask, env));
	const written = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
	const lines = readFileSync(join(directory, "spent"), "utf8").trim();
	for (const line of lines.split("\n")) {
		const { kind, ms } = JSON.parse(line);
		written[kind] += ms;
	}
	return { told, written };
}

function elasticRun(args, env) {
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		[CLI, ...args],
		{ encoding: "utf8", env },
	);
	if (status !== 0)
		throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
	return stdout;
}
