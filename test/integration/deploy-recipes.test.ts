import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { CLI, runCli } from "../helpers/cli.js";
import { startEtcd } from "../helpers/etcd.js";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder } from "../helpers/processes.js";

const run = promisify(execFile);
const FOLDER = join(ROOT, "examples/deploy");
const DEVICES = { CUDA_VISIBLE_DEVICES: "0,1" };

/** What a recipe's pod template has to say of its launcher. */
interface Container {
	readonly command: readonly string[];
	readonly args: readonly string[];
	readonly env: readonly { name: string; value?: string }[];
}

interface FailureRule {
	readonly action: string;
	readonly onExitCodes?: { readonly values: readonly number[] };
}

interface Manifest {
	readonly kind: string;
	readonly spec: {
		readonly template?: {
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
	const options = { cwd, env: { ...DEVICES, ...env } };
	const { stdout, stderr, exitCode } = await runCli(
		["--dry-run", "-v", ...args],
		options,
	);
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
		[0, "ends"],
		[1, "ends"],
		[75, "ends"],
		[143, "requeue 4711"],
	])("slurm.sbatch: after exit code %d its job %s", async (code, then) => {
		const site = place();
		site.program("elastic-run", `exit ${code}`);
		site.program("scontrol", 'echo "$@"');
		const ended = await submit(site).then(
			({ stdout }) => ({ code: 0, stdout }),
			(error) => error,
		);
		expect(ended.code).toBe(code);
		expect(ended.stdout.trim() || "ends").toBe(then);
	});
});

/** What the Job does about a pod whose launcher ended with this code: the first rule that names it, else it counts. */
function onExit(code: number): string {
	const [, job] = parseAllDocuments(read("kubernetes-job.yaml"));
	const rules: readonly FailureRule[] =
		job?.toJS().spec.podFailurePolicy.rules ?? [];
	const rule = rules.find(({ onExitCodes }) =>
		onExitCodes?.values.includes(code),
	);
	return rule?.action ?? "Count";
}

describe("Kubernetes", () => {
	it.each([
		["the run failed", 1, "FailJob"],
		["bad settings", 2, "FailJob"],
		["rendezvous failed", 3, "FailJob"],
		["etcd was not reached", 4, "Count"],
		["the run was stopped", 5, "FailJob"],
		["no such command", 127, "FailJob"],
		["not executable", 126, "FailJob"],
		["to be started again", 76, "Ignore"],
		["its machine goes", 143, "Ignore"],
		["its node is replaced", 75, "Count"],
		["killed", 137, "Count"],
	])("kubernetes-job.yaml: %s (%d) means %s", (_, code, action) => {
		expect(onExit(code)).toBe(action);
	});

	it.each([
		"kubernetes-job.yaml",
		"kubernetes-statefulset.yaml",
	])("%s: its launcher takes all settings, and ends within the grace period", async (name) => {
		const { folder } = place();
		const documents = parseAllDocuments(read(name));
		expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
		const manifests = documents.map((one): Manifest => one.toJS());
		expect(manifests[0]).toMatchObject({ kind: "Service" });
		const pod = manifests[1]?.spec.template?.spec;
		if (pod === undefined) expect.unreachable();
		const [{ command, args, env }] = pod.containers;
		expect(command[0]).toBe("/usr/bin/tini");
		const given = Object.fromEntries(
			env.map(({ name, value = "pod-2" }) => [name, value]),
		);
		const password = join(folder, "password");
		writeFileSync(password, "secret", { mode: 0o600 });
		const found = await settingsOf(
			args.map((arg) => arg.replace("/etc/etcd-login/password", password)),
			given,
			folder,
		);
		expect(found.get("nodeId")).toBe("pod-2");
		expect(found.get("nnodes")).toBe("2:4");
		expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
			Math.max(seconds(found) + 10, Number(found.get("terminationGrace")) || 0),
		);
	});

	it.each([
		[0, "waits"],
		[1, "waits"],
		[75, "exits"],
		[143, "exits"],
	])("kubernetes-statefulset.yaml: after exit code %d its container %s", async (code, then) => {
		const { folder, program, env } = place();
		program("elastic-run", `exit ${code}`);
		program("sleep", "echo waits");
		const manifest: Manifest = parseAllDocuments(
			read("kubernetes-statefulset.yaml"),
		)[1]?.toJS();
		const [{ command, args }] = manifest.spec.template?.spec.containers ?? [
			expect.unreachable(),
		];
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

	it("elastic-run@.service: systemd has nothing to say against it", async (context) => {
		if (!existsSync("/usr/bin/systemd-analyze")) {
			context.skip("there is no systemd-analyze");
		}
		const { stdout, stderr } = await run("systemd-analyze", [
			"verify",
			"--man=no",
			join(FOLDER, "elastic-run@.service"),
		]);
		expect(`${stdout}${stderr}`).not.toContain("elastic-run@");
	});
});

describe("etcd", () => {
	it("etcd-user.sh: its user runs this run, and no other", async (context) => {
		const { folder, env } = place();
		const etcdctl = await run("etcdctl", ["version"]).catch(() => undefined);
		if (etcdctl === undefined) context.skip("there is no etcdctl");
		const etcd = await startEtcd();
		const password = join(folder, "password");
		writeFileSync(password, "secret\n", { mode: 0o600 });
		await run(
			"sh",
			[join(FOLDER, "etcd-user.sh"), "night-1", "train", password, password],
			{ env: { ...env, ETCDCTL_ENDPOINTS: etcd.endpoint } },
		);
		const login = [
			...["--rdzv-endpoint", etcd.endpoint],
			...["--rdzv-conf", `username=train,password_file=${password}`],
		];
		const launch = (runId: string) =>
			runCli([...login, "--run-id", runId, "train.js"], { cwd: folder });
		const clean = (...args: string[]) =>
			runCli(["clean", ...args, "--older-than", "0", "--yes", ...login], {
				cwd: folder,
			});
		expect(await launch("night-1")).toMatchObject({ exitCode: 0 });
		const refused = [await launch("night-2"), await clean()];
		for (const { exitCode, stderr } of refused) {
			expect(exitCode).toBe(4);
			expect(stderr).toContain("may not read and write these keys");
		}
		const cleaned = await clean("night-1");
		expect(cleaned.exitCode).toBe(0);
		expect(cleaned.stdout).toMatch(/^run .*removed +night-1/m);
	});
});
