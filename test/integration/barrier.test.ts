import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isNode, parseAllDocuments } from "yaml";
import { type Answered, ask } from "../helpers/ask.js";
import { CLI } from "../helpers/cli.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { freePort } from "../helpers/free-port.js";
import { ROOT } from "../helpers/import-graph.js";
import { type ContainerSpec, Pod } from "../helpers/kubelet.js";
import { temporaryFolder } from "../helpers/processes.js";

/** A second of the kubelet takes a millisecond. */
const TIME_FACTOR = 0.001;

let runs = 0;

interface Container {
	readonly command: readonly string[];
	readonly args: readonly string[];
	readonly restartPolicyRules: readonly {
		readonly exitCodes: { readonly values: readonly number[] };
	}[];
	readonly startupProbe: { readonly httpGet: { readonly path: string } };
	readonly env: readonly { readonly name: string; readonly value?: string }[];
}

/** The place of the pods in a recipe, and the variables that each pod gets. */
interface Recipe {
	readonly file: string;
	readonly template: readonly string[];
	readonly names: (
		run: number,
		pod: number,
	) => Readonly<Record<string, string>>;
}

const JOB: Recipe = {
	file: "kubernetes-barrier.yaml",
	template: ["template"],
	names: (run, pod) => ({
		ELASTIC_RUN_RUN_ID: `pods-${run}`,
		ELASTIC_RUN_NODE_ID: `pod-${pod}`,
	}),
};

const JOB_SET: Recipe = {
	file: "kubernetes-jobset.yaml",
	template: ["replicatedJobs", "0", "template", "spec", "template"],
	names: (run, pod) => ({
		NAMESPACE: "default",
		JOBSET_NAME: `pods-${run}`,
		POD_NAME: `pods-${run}-workers-0-${pod}-x7k2p`,
	}),
};

/** The containers of the recipe. */
function containersOf({ file, template }: Recipe): {
	readonly sidecar: Container;
	readonly main: Container;
} {
	const path = join(ROOT, "examples/deploy", file);
	const documents = parseAllDocuments(readFileSync(path, "utf8"));
	expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
	const document = documents.at(-1) ?? expect.unreachable();
	const pod = document.getIn(["spec", ...template, "spec"]);
	const { initContainers, containers } = isNode(pod) ? pod.toJS(document) : {};
	return { sidecar: initContainers[0], main: containers[0] };
}

/** What a container runs, without the init that an image has. */
function processOf(
	{ command, args, restartPolicyRules }: Container,
	folder: string,
	env: Readonly<Record<string, string>>,
): Omit<ContainerSpec, "name"> {
	const [file = "", ...rest] = [
		...command.slice(command.indexOf("--") + 1),
		...args,
	].map((word) => word.replaceAll("/barrier/", `${folder}/`));
	return {
		command: [file, ...rest],
		env: { PATH: process.env.PATH ?? "", ...env },
		restartAllOn: restartPolicyRules.flatMap(
			({ exitCodes }) => exitCodes.values,
		),
	};
}

/** A pod that is not there yet. */
interface Planned {
	readonly start: () => Pod;
	/** What its barrier answers to a start-up probe. */
	readonly probe: () => Promise<Answered>;
}

/** Pods of the recipe whose trainers run this shell script, with the number of the try as its argument. */
async function pods(
	recipe: Recipe,
	endpoint: string,
	scripts: readonly string[],
	maxRestarts: number,
): Promise<readonly Planned[]> {
	const { path: site, remove } = temporaryFolder();
	onTestFinished(remove);
	writeFileSync(
		join(site, "elastic-run"),
		`#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`,
	);
	chmodSync(join(site, "elastic-run"), 0o755);
	const { sidecar, main } = containersOf(recipe);
	const run = ++runs;
	// Those with a value are as the recipe has them, but for a login that this etcd does not ask for.
	const given = sidecar.env.flatMap(({ name, value }) =>
		value === undefined || name === "ELASTIC_RUN_RDZV_CONF"
			? []
			: [[name, value]],
	);
	return Promise.all(
		scripts.map(async (script, index) => {
			const folder = join(site, `pod-${index}`);
			mkdirSync(folder);
			const trainer = `n=$(ls ${folder}/tries 2>/dev/null | wc -l); mkdir -p ${folder}/tries/$n; ${script}`;
			const port = await freePort();
			const flags = [
				`--probe-port=${port}`,
				`--nnodes=${scripts.length}`,
				`--max-restarts=${maxRestarts}`,
			];
			const replaced = sidecar.args.filter(
				(arg) => !/^--(probe-port|nnodes|max-restarts)=/.test(arg),
			);
			const env = {
				PATH: `${site}:${process.env.PATH}`,
				HOME: site,
				XDG_STATE_HOME: "/dev/null",
				...Object.fromEntries(given),
				...recipe.names(run, index),
				ELASTIC_RUN_RDZV_ENDPOINT: endpoint,
				ELASTIC_RUN_LOCAL_ADDR: "127.0.0.1",
				ELASTIC_RUN_LOG_DIR: join(folder, "logs"),
				ELASTIC_RUN_DIR: folder,
			};
			const { path } = sidecar.startupProbe.httpGet;
			const spec = {
				cwd: folder,
				timeFactor: TIME_FACTOR,
				sidecar: {
					...processOf(
						{ ...sidecar, args: [...replaced, ...flags] },
						folder,
						env,
					),
					name: "barrier",
					startupProbe: { port, path },
				},
				main: {
					...processOf({ ...main, args: ["sh", "-c", trainer] }, folder, env),
					name: "trainer",
				},
			};
			const start = () => {
				const pod = new Pod(spec);
				onTestFinished(() => pod.close());
				return pod;
			};
			return { start, probe: () => ask(`http://127.0.0.1:${port}${path}`) };
		}),
	);
}

describe("J19 elastic-run barrier", () => {
	const etcd = etcdForAll();

	it("holds the trainers back until all pods are there, and restarts all of them in place when one fails", async () => {
		const [early, late] = await pods(
			JOB_SET,
			etcd().endpoint,
			[
				// The first try of this one works until it is ended.
				'[ "$n" -gt 0 ] || exec sleep 600',
				'[ "$n" -gt 0 ] || exit 3',
			],
			3,
		);
		if (early === undefined || late === undefined) throw new Error("no pods");
		const first = early.start();
		const words = "waiting for round 1";
		await poll(`the answer "${words}"`, 60_000, async () => {
			const answer = await early.probe().catch(() => undefined);
			expect(answer?.status ?? 503).toBe(503);
			return answer?.body.includes(words) || undefined;
		});
		expect(first.events).toEqual(["barrier started"]);
		const both = [first, late.start()];
		expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
		for (const { events } of both) {
			expect(events.slice(0, 6)).toEqual([
				...["barrier started", "trainer started", "barrier exited with 88"],
				...["restart all containers", "barrier started", "trainer started"],
			]);
			expect(events).toContain("trainer exited with 0");
		}
	});

	it("ends the pods with the run's exit code when the budget is spent", async () => {
		const planned = await pods(
			JOB,
			etcd().endpoint,
			["exec sleep 600", "exit 3"],
			1,
		);
		const both = planned.map(({ start }) => start());
		const ends = both.map(({ ended }) => ended);
		expect(await ends[1]).toBe(1);
		const events = both[1]?.events ?? [];
		expect(events).toContain("barrier exited with 76");
		expect(events.filter((one) => one === "restart all containers")).toEqual([
			"restart all containers",
		]);
	});
});
