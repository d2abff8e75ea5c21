import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLI } from "./launchers.js";

const TRAINER = fileURLToPath(new URL("ledger/trainer.js", import.meta.url));
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
			const differences = new Map(KINDS.map((kind) => [kind, 0]));
			let missing = 0;
			return {
				measure() {
					const { told, written } = train(place);
					const all = Object.values(told.ledger).reduce((a, b) => a + b, 0);
					missing = Math.max(missing, Math.abs(all / told.elapsedSeconds - 1));
					const found = KINDS.map((kind) => {
						const ms = Math.abs(told.ledger[kind] * 1_000 - written[kind]);
						differences.set(kind, Math.max(differences.get(kind), ms));
						return ms;
					});
					return Math.max(...found);
				},
				notes: () => [
					`at most, in ms: ${[...differences].map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`).join(", ")}`,
					`all kinds together differ from the wall time by ${(missing * 100).toFixed(3)} %`,
				],
				async close() {},
			};
		},
	},
];

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
