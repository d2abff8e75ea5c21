// Faults in trainers of frameworks: some of all pairs, on one launcher and on two. Each ends with the weights of a run
// without fault and hook.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { etcdForAll } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/frameworks/faults.py", import.meta.url),
);

const etcd = etcdForAll();

it.for([
	[
		"ddp",
		"collective",
		2,
		/rank \d failed: hung for \d+ s: ranks called different/,
	],
	[
		"accelerate",
		"loader",
		1,
		/rank 1 failed: .*a process of its data loader was killed/,
	],
] as const)(
	"%s, %s, %i launchers: the cause is named, the weights are those of an undisturbed run, the ledger adds up",
	{ timeout: 600_000 },
	async ([framework, fault, launchers, cause], context) => {
		needModules(context, "torch", framework === "ddp" ? "torch" : framework);
		const site = openSite();
		const env = { PYTHON_EXEC: PYTHON, ELASTIC_RUN_WARM: "" };
		const meeting = (nodes: number) =>
			nodes > 1 ? ["--rdzv-endpoint", etcd().endpoint] : [];
		const train = async (
			name: string,
			nodes: number,
			...flags: readonly string[]
		) => {
			const folder = join(site.path, name);
			mkdirSync(folder);
			const launches = Array.from({ length: nodes }, (_, node) =>
				site.launch(
					[
						...["--nnodes", String(nodes), "--run-id", name, ...flags],
						...["--nproc-per-node", String(2 / nodes), ...meeting(nodes)],
						...["--max-restarts", "1", SCRIPT, folder, framework, name],
					],
					{ env: { ...env, ELASTIC_RUN_NODE_ID: `node-${node}` } },
				),
			);
			const ends = await Promise.all(launches.map(({ ended }) => ended));
			const stderr = ends.map((end) => end.stderr).join("");
			expect(ends, stderr).toMatchObject(ends.map(() => ({ exitCode: 0 })));
			const stdout = ends.map((end) => end.stdout).join("");
			const weights = [...stdout.matchAll(/ended with (.*)/g)].map(
				([, text]) => text,
			);
			expect(weights).toHaveLength(2);
			return { weights: weights.sort(), stderr };
		};

		const limits = ["--hang-timeout", "5", "--evidence-timeout", "2"];
		const { weights, stderr } = await train(fault, launchers, ...limits);
		expect(stderr).toMatch(cause);
		const { stdout } = await site.launch([
			...["goodput", fault, "--output", "json", ...meeting(launchers)],
		]).ended;
		const goodput = JSON.parse(stdout);
		const parts: readonly number[] = Object.values(goodput.ledger);
		const sum = parts.reduce((all, part) => all + part, 0);
		expect(sum).toBeCloseTo(goodput.nodeSeconds, 3);
		const longest = launchers * goodput.elapsedSeconds;
		expect(goodput.nodeSeconds).toBeLessThanOrEqual(longest + 0.001);
		expect(weights).toEqual((await train("none", 1, "--no-hook")).weights);
	},
);
