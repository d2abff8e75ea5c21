import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runAgents } from "./agents.js";
import { Etcd } from "./etcd.js";

const TRAINER = fileURLToPath(new URL("calm/trainer.js", import.meta.url));
const NODES = ["node-a", "node-b"];
/** Ten minutes, as `--hang-timeout` has it by default, are so long here. */
const LIMIT_S = 5;
const SMOKE_LIMIT_S = 0.5;
const HOURS = 1;

/** @type {import("./figures.js").Beside} */
const ALL = { name: "an hour", measure: () => 1 };

/**
 * Whether the launcher leaves a run alone that is slow, saves or evaluates.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const CALM_FIGURES = [
	{
		name: "no-false-kill",
		title: `hangs that were found in an hour without any, on two agents with two workers each; ten minutes are ${LIMIT_S} s`,
		unit: "",
		rounds: 1,
		peers: [],
		needsEtcd: true,
		isApart: true,
		goal: { atMost: 0, times: [ALL.name] },
		beside: [ALL],
		async open({ scratch, isSmoke, count = HOURS }) {
			const limitS = isSmoke ? SMOKE_LIMIT_S : LIMIT_S;
			const etcd = await Etcd.start(scratch);
			let notes = [];
			return {
				etcd,
				async measure() {
					const said = await train(scratch, etcd.endpoint, count, limitS);
					const told = said.filter((line) =>
						/slow: no step|hung for/.test(line),
					);
					const ended = told.filter((line) =>
						line.includes("RUNNING→STOPPING"),
					);
					notes = [
						`${count} hours; ${told.length - ended.length} times it was told that a rank is slow, and waited`,
						...ended,
					];
					return ended.length;
				},
				notes: () => notes,
				close: () => etcd.stop(),
			};
		},
	},
];

/** What all agents have said, a line each. */
async function train(scratch, endpoint, hours, limitS) {
	const folder = mkdtempSync(join(scratch, "calm-"));
	const state = join(folder, "state");
	mkdirSync(state);
	const said = await runAgents(
		NODES.map((nodeId) => [
			...["--nnodes", "2", "--nproc-per-node", "2", "--node-id", nodeId],
			...["--run-id", `bench-calm-${process.pid}`],
			...["--rdzv-endpoint", endpoint, "--log-dir", join(folder, nodeId)],
			...["--rdzv-conf", "lease_ttl=60"],
			...["--hang-timeout", `${limitS}s`, "--shutdown-timeout", "1"],
			...[TRAINER, state, String(limitS * 1_000), String(hours)],
		]),
		(hours * 6 * limitS + 300) * 1_000,
	);
	return said.flatMap((text) => text.split("\n"));
}
