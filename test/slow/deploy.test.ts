// The recipes in examples/deploy, as far as they can be played on one machine.
import { execFile, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { CLI, environmentOf, runCli, startCli } from "../helpers/cli.js";
import { needEtcd, startEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { freePort } from "../helpers/free-port.js";
import { ROOT } from "../helpers/import-graph.js";
import { job } from "../helpers/launch.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

const run = promisify(execFile);
const FOLDER = join(ROOT, "examples/deploy");
const DEVICES = { CUDA_VISIBLE_DEVICES: "0,1" };

/** What a recipe's pod template has to say of its launcher. */
interface Container {
	readonly image: string;
	readonly command: readonly string[];
	readonly args: readonly string[];
	readonly env: readonly { name: string; value?: string }[];
	readonly lifecycle: {
		readonly preStop: {
			readonly exec: { readonly command: readonly string[] };
		};
	};
}

type Labels = Readonly<Record<string, string>>;

interface Service {
	readonly command: readonly string[];
	readonly environment?: Readonly<Record<string, string>>;
	readonly stop_grace_period?: string;
}

interface Manifest {
	readonly kind: string;
	readonly metadata: { readonly name: string };
	/** Of compose.yaml. */
	readonly services?: Readonly<Record<string, Service>>;
	/** Of kustomization.yaml. */
	readonly resources?: readonly string[];
	readonly images?: readonly { readonly name: string }[];
	readonly spec?: {
		readonly replicas?: number;
		readonly selector?: { readonly matchLabels?: Labels };
		readonly minAvailable?: number;
		readonly maxUnavailable?: number;
		readonly parallelism?: number;
		readonly podFailurePolicy?: {
			readonly rules: readonly {
				readonly action: string;
				readonly onExitCodes?: { readonly values: readonly number[] };
			}[];
		};
		readonly template?: {
			readonly metadata?: { readonly labels?: Labels };
			readonly spec: {
				readonly terminationGracePeriodSeconds: number;
				readonly containers: readonly [Container];
			};
		};
	};
}

function read(name: string): string {
	return readFileSync(join(FOLDER, name), "utf8");
}

function manifestsIn(name: string): readonly Manifest[] {
	const documents = parseAllDocuments(read(name), { merge: true });
	expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
	return documents.map((one): Manifest => one.toJS());
}

/** The one that makes pods, of whatever kind. */
function workloadIn(name: string) {
	const found = manifestsIn(name).find(({ spec }) => spec?.template);
	const { spec, kind, metadata } = found ?? expect.unreachable();
	const template = spec?.template ?? expect.unreachable();
	const labels: Labels = {
		...template.metadata?.labels,
		// As Kubernetes does.
		...(kind === "Job" && { "job-name": metadata.name }),
	};
	const [container] = template.spec.containers;
	return { kind, spec, labels, pod: template.spec, container };
}

/** A folder with a trainer in it, and a PATH in which `elastic-run` is the built command. */
function place() {
	const { path: folder, remove } = temporaryFolder();
	onTestFinished(remove);
	const program = (name: string, text: string) => {
		writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
		chmodSync(join(folder, name), 0o755);
	};
	program("elastic-run", `exec "${process.execPath}" "${CLI}" "$@"`);
	writeFileSync(join(folder, "train.js"), "");
	writeFileSync(join(folder, "train.py"), "");
	const env = { ...DEVICES, PATH: `${folder}:${process.env.PATH}` };
	return { folder, program, env };
}

/** The settings of a dry run. */
async function settingsOf(
	args: readonly string[],
	env: Readonly<Record<string, string>>,
	cwd: string,
) {
	const line = ["--dry-run", "-v", ...args];
	const options = { cwd, env: { ...DEVICES, ...env } };
	const { stdout, stderr, exitCode } = await runCli(line, options);
	expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
	return settings(stdout);
}

function settings(stdout: string): ReadonlyMap<string, string> {
	const lines = stdout.matchAll(/^ {2}(\w+) +(.+?) {2,}\S/gm);
	return new Map([...lines].map(([, key = "", value = ""]) => [key, value]));
}

function seconds(found: ReadonlyMap<string, string>): number {
	return Number(found.get("shutdownTimeout"));
}

/** Starts a recipe's etcd, with the addresses of this machine for those of its hosts. */
function runEtcd(args: readonly string[]): void {
	const child = spawn(needEtcd(), args, {
		cwd: "/",
		env: { ETCD_UNSUPPORTED_ARCH: process.arch },
		stdio: "ignore",
	});
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
}

async function isHealthy(port: number | undefined): Promise<void> {
	await poll("a leader", 60_000, async () => {
		const answer = fetch(`http://127.0.0.1:${port}/health`);
		const text = await answer.then((one) => one.text()).catch(() => "");
		return text.includes('"true"') || undefined;
	});
}

describe("Slurm", () => {
	/** Runs the recipe as a job of four nodes; `srun` does what it does with flags of its own, then runs the rest once. */
	const submit = ({ folder, program, env }: ReturnType<typeof place>) => {
		program(
			"srun",
			'while [ "$1" != elastic-run ]; do case $1 in --*) shift ;; *) exit 9 ;; esac; done; exec "$@"',
		);
		return run("bash", [join(FOLDER, "slurm.sbatch")], {
			cwd: folder,
			env: {
				...env,
				SLURM_JOB_ID: "4711",
				SLURM_JOB_NUM_NODES: "4",
				SLURM_SUBMIT_DIR: folder,
				ELASTIC_RUN_DRY_RUN: "1",
			},
		});
	};

	it("slurm.sbatch starts one launcher a node, and gives it the time that it may take", async () => {
		const { stdout } = await submit(place());
		const found = settings(stdout);
		expect(found.get("runId")).toBe("4711");
		expect(found.get("nnodes")).toBe("1:4");
		const notice = /--signal=TERM@(\d+)/.exec(read("slurm.sbatch"))?.[1];
		expect(Number(notice)).toBeGreaterThan(seconds(found) + 10);
	});

	it.each([
		[1, "ends"],
		[143, "requeue 4711"],
	])("slurm.sbatch: after exit code %d its job %s", async (code, then) => {
		const site = place();
		site.program("elastic-run", `exit ${code}`);
		site.program("scontrol", 'echo "$@"');
		const ended = await submit(site).catch((error) => error);
		expect(ended.code).toBe(code);
		expect(ended.stdout.trim() || "ends").toBe(then);
	});
});

/** What the Job does about a pod whose launcher ended with this code: the first rule that names it, else it counts. */
function onExit(code: number): string {
	const rule = workloadIn(
		"kubernetes-job.yaml",
	).spec?.podFailurePolicy?.rules.find(({ onExitCodes }) =>
		onExitCodes?.values.includes(code),
	);
	return rule?.action ?? "Count";
}

describe("Kubernetes", () => {
	it.each([
		["FailJob", [1, 2, 3, 5, 126, 127]],
		["Ignore", [76, 143]],
		["Count", [4, 75, 137]],
	])("kubernetes-job.yaml: %s is what exit codes %j mean", (action, codes) => {
		for (const code of codes) expect(onExit(code), `${code}`).toBe(action);
	});

	it.each([
		"kubernetes-job.yaml",
		"kubernetes-statefulset.yaml",
	])("%s: its launcher takes all settings, and ends within the grace period", async (name) => {
		const { folder } = place();
		expect(manifestsIn(name)[0]).toMatchObject({ kind: "Service" });
		const { pod, container } = workloadIn(name);
		const { command, args } = container;
		expect(command[0]).toBe("/usr/bin/tini");
		const password = join(folder, "password");
		writeFileSync(password, "secret", { mode: 0o600 });
		const given = Object.fromEntries(
			container.env.map(({ name, value = "pod-2" }) => [
				name,
				value.replace("/etc/etcd-login/password", password),
			]),
		);
		const found = await settingsOf(args, given, folder);
		expect(found.get("nodeId")).toBe("pod-2");
		expect(found.get("nnodes")).toBe("2:4");
		const grace = Number(found.get("terminationGrace"));
		expect(grace).toBeGreaterThan(seconds(found));
		const hook = container.lifecycle.preStop.exec.command.at(-1) ?? "";
		const [limit = 0, deadline = 0] =
			/^timeout (\d+) .* --deadline (\d+) /.exec(hook)?.slice(1).map(Number) ??
			[];
		expect(deadline).toBeGreaterThan(seconds(found));
		expect(deadline).toBeLessThanOrEqual(grace);
		expect(limit).toBeGreaterThan(0);
		expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(limit + grace);
	});

	it("kubernetes-job.yaml: its preStop hook makes the workers save and the node leave, without a signal", async () => {
		const etcd = await startEtcd();
		const { folder, env } = place();
		const pod = {
			...env,
			ELASTIC_RUN_RUN_ID: "job-1",
			ELASTIC_RUN_NODE_ID: "2",
			ELASTIC_RUN_RDZV_ENDPOINT: etcd.endpoint,
		};
		const launcher = startCli([job("saves-at-notice.js")], {
			cwd: folder,
			env: { ...pod, JOB_RECORDS: folder, TRAIN_STATE: folder },
		});
		await waitFor("the first step", () =>
			launcher.output.stdout.includes("saved 1"),
		);
		const { container } = workloadIn("kubernetes-job.yaml");
		const [shell = "", ...words] = container.lifecycle.preStop.exec.command;
		await run(shell, words, { cwd: folder, env: environmentOf(pod) });
		const { exitCode, stderr } = await launcher.ended;
		expect(exitCode).toBe(143);
		expect(stderr).toContain("notice from command: elastic-run leave");
	});

	it.each([
		["kubernetes-job.yaml", "kubernetes-disruption.yaml"],
		["kubernetes-barrier.yaml", "kubernetes-disruption.yaml"],
		["kubernetes-statefulset.yaml", "kubernetes-statefulset.yaml"],
		["kubernetes-etcd.yaml", "kubernetes-etcd.yaml"],
	])("%s: the PodDisruptionBudget in %s is for its pods, and lets one at a time go", (name, file) => {
		const { kind, spec, labels } = workloadIn(name);
		const budget = manifestsIn(file).find(
			({ kind }) => kind === "PodDisruptionBudget",
		)?.spec;
		const wanted = budget?.selector?.matchLabels;
		expect(Object.keys(wanted ?? {})).not.toEqual([]);
		expect(labels).toMatchObject(wanted ?? {});
		// Kubernetes counts maxUnavailable only for what can be scaled, which a Job cannot.
		const one =
			kind === "Job"
				? { minAvailable: (spec?.parallelism ?? 0) - 1 }
				: { maxUnavailable: 1 };
		expect(budget).toMatchObject(one);
	});

	it("kustomization.yaml names files that are there, the budget among them, and the image that they use", () => {
		const [{ resources = [], images = [] } = {}] =
			manifestsIn("kustomization.yaml");
		expect(resources).toContain("kubernetes-disruption.yaml");
		const used = resources
			.flatMap(manifestsIn)
			.flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
			.map(({ image }) => image.replace(/:[^:/]+$/, ""));
		expect([...new Set(used)]).toEqual(images.map(({ name }) => name));
	});

	it("kubernetes-etcd.yaml: its three members form a cluster", async () => {
		const { spec, container } = workloadIn("kubernetes-etcd.yaml");
		const names = [0, 1, 2].map((n) => `etcd-${n}`);
		expect(spec?.replicas).toBe(names.length);
		const { folder } = place();
		const ports = new Map<string, number>();
		for (const name of names) {
			for (const port of [2379, 2380]) {
				ports.set(`${name}.etcd:${port}`, await freePort());
			}
		}
		for (const name of names) {
			runEtcd(
				container.args.map((arg) =>
					arg
						.replaceAll("$(POD_NAME)", name)
						.replace("/data/etcd", join(folder, name))
						.replaceAll(/0\.0\.0\.0:(\d+)/g, `${name}.etcd:$1`)
						.replaceAll(
							/etcd-\d\.etcd:\d+/g,
							(host) => `127.0.0.1:${ports.get(host)}`,
						),
				),
			);
		}
		await isHealthy(ports.get("etcd-0.etcd:2379"));
	});

	it.each([
		[1, "waits"],
		[75, "exits"],
	])("kubernetes-statefulset.yaml: after exit code %d its container %s", async (code, then) => {
		const { folder, program, env } = place();
		program("elastic-run", `exit ${code}`);
		program("sleep", "echo waits");
		const { command, args } = workloadIn(
			"kubernetes-statefulset.yaml",
		).container;
		const [shell = "", ...words] = command.slice(command.indexOf("--") + 1);
		const ended = await run(shell, [...words, ...args], {
			cwd: folder,
			env,
		}).then(
			({ stdout }) => stdout.trim().split("\n").at(-1),
			(error) => (error.code === code ? "exits" : String(error)),
		);
		expect(ended).toBe(then);
	});
});

describe("Docker", () => {
	it("compose.yaml: its etcd serves, and its nodes take all settings and have time to end", async () => {
		const [{ services = {} } = {}] = manifestsIn("compose.yaml");
		const { etcd, ...nodes } = services;
		expect(Object.keys(nodes)).toEqual(["node-a", "node-b"]);
		const { folder } = place();
		for (const [name, node] of Object.entries(nodes)) {
			const { command, environment = {}, stop_grace_period = "" } = node;
			expect(environment.ELASTIC_RUN_NODE_ID).toBe(name);
			const env = { ...environment, ELASTIC_RUN_LOG_DIR: join(folder, "logs") };
			const found = await settingsOf(command, env, folder);
			const grace = Number(stop_grace_period.replace("s", ""));
			expect(grace).toBeGreaterThan(seconds(found) + 10);
		}
		const [port, peerPort] = [await freePort(), await freePort()];
		const peers = `http://127.0.0.1:${peerPort}`;
		runEtcd([
			...(etcd?.command ?? []).map((arg) =>
				arg
					.replace(/0\.0\.0\.0:\d+|etcd:\d+$/, `127.0.0.1:${port}`)
					.replace("/data", join(folder, "data")),
			),
			...["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers],
			...["--initial-cluster", `default=${peers}`],
		]);
		await isHealthy(port);
	});

	it("Dockerfile: tini is process 1 and starts the launcher", () => {
		const [, entry = "[]"] =
			/^ENTRYPOINT (\[.+\])$/m.exec(read("Dockerfile")) ?? [];
		expect(JSON.parse(entry)).toEqual(["/usr/bin/tini", "--", "elastic-run"]);
	});
});

describe("systemd", () => {
	it("elastic-run@.service: its launcher takes all settings, and ends before it is killed", async () => {
		const { folder } = place();
		const unit = read("elastic-run@.service");
		const command = /^ExecStart=\/usr\/bin\/env elastic-run (.+)$/m.exec(unit);
		const args = (command?.[1] ?? "")
			.replaceAll("%i", "night-1")
			.replace("$COMMAND", "train.js --lr 0.1")
			.split(" ");
		const env = {
			ELASTIC_RUN_RDZV_ENDPOINT: "etcd-1:2379",
			ELASTIC_RUN_NNODES: "2:8",
		};
		const found = await settingsOf(args, env, folder);
		expect(found.get("runId")).toBe("night-1");
		const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
		expect(stop).toBeGreaterThan(seconds(found) + 10);
	});
});
