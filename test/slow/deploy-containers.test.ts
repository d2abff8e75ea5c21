import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import { parseAllDocuments } from "yaml";
import { findEtcd } from "../../scripts/find-etcd.js";
import { runCli } from "../helpers/cli.js";
import { freePort } from "../helpers/free-port.js";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

const FOLDER = join(ROOT, "examples/deploy");
const CLIENTS = 2379;
const PEERS = 2380;

interface Service {
	readonly command: readonly string[];
	readonly entrypoint?: readonly string[];
	readonly environment?: Readonly<Record<string, string>>;
	readonly stop_grace_period?: string;
}

interface Container {
	readonly image: string;
	readonly command: readonly string[];
	readonly args: readonly string[];
}

interface Manifest {
	readonly services?: Readonly<Record<string, Service>>;
	readonly resources?: readonly string[];
	readonly images?: readonly { readonly name: string }[];
	readonly spec?: {
		readonly replicas?: number;
		readonly template?: {
			readonly spec: { readonly containers: readonly Container[] };
		};
	};
}

function read(name: string): string {
	return readFileSync(join(FOLDER, name), "utf8");
}

function manifests(name: string): readonly Manifest[] {
	const documents = parseAllDocuments(read(name), { merge: true });
	expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
	return documents.map((one): Manifest => one.toJS());
}

function folder(): string {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	return path;
}

/** Starts a recipe's etcd, with the addresses of this machine for those of its hosts. */
function startEtcd(program: string, args: readonly string[]): void {
	const child = spawn(program, args, {
		cwd: "/",
		env: { ETCD_UNSUPPORTED_ARCH: process.arch },
		stdio: "ignore",
	});
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
}

function isHealthy(port: number): () => true | undefined {
	let isHealthy: true | undefined;
	let isAsking = false;
	return () => {
		if (!isAsking) {
			isAsking = true;
			fetch(`http://127.0.0.1:${port}/health`)
				.then((answer) => answer.text())
				.then((text) => {
					if (text.includes('"true"')) isHealthy = true;
				})
				.catch(() => {})
				.finally(() => {
					isAsking = false;
				});
		}
		return isHealthy;
	};
}

function needEtcd(context: TestContext): string {
	return findEtcd() ?? context.skip("there is no etcd here");
}

it("kubernetes-etcd.yaml: its three members form a cluster", async (context) => {
	const program = needEtcd(context);
	const set = manifests("kubernetes-etcd.yaml").at(-1)?.spec;
	const [container] = set?.template?.spec.containers ?? [];
	const names = Array.from(
		{ length: set?.replicas ?? 0 },
		(_, n) => `etcd-${n}`,
	);
	expect(names).toHaveLength(3);
	const ports = new Map<string, number>();
	for (const name of names) {
		for (const port of [CLIENTS, PEERS]) {
			ports.set(`${name}.etcd:${port}`, await freePort());
		}
	}
	const data = folder();
	for (const name of names) {
		const local = (arg: string) =>
			arg
				.replaceAll("$(POD_NAME)", name)
				.replace("/data/etcd", join(data, name))
				.replaceAll(/0\.0\.0\.0:(\d+)/g, `${name}.etcd:$1`)
				.replaceAll(
					/etcd-\d\.etcd:\d+/g,
					(host) => `127.0.0.1:${ports.get(host)}`,
				);
		startEtcd(program, (container?.args ?? []).map(local));
	}
	const asked = isHealthy(ports.get(`etcd-0.etcd:${CLIENTS}`) ?? 0);
	expect(await waitFor("a leader", asked)).toBe(true);
});

it("compose.yaml: its etcd serves, and its nodes take all settings and have time to end", async (context) => {
	const [file] = manifests("compose.yaml");
	const { etcd, ...nodes } = file?.services ?? {};
	expect(Object.keys(nodes)).toEqual(["node-a", "node-b"]);
	const cwd = folder();
	writeFileSync(join(cwd, "train.js"), "");
	for (const [name, { command, environment = {}, ...more }] of Object.entries(
		nodes,
	)) {
		expect(environment.ELASTIC_RUN_NODE_ID).toBe(name);
		const env = { ...environment, ELASTIC_RUN_LOG_DIR: join(cwd, "logs") };
		const { exitCode, stderr } = await runCli(["validate", ...command], {
			cwd,
			env,
		});
		expect(exitCode, stderr).toBe(0);
		const DEFAULT_SHUTDOWN_TIMEOUT_S = 30;
		const grace = Number(more.stop_grace_period?.replace("s", ""));
		expect(grace).toBeGreaterThan(DEFAULT_SHUTDOWN_TIMEOUT_S + 10);
	}
	const program = needEtcd(context);
	const [port, peerPort] = [await freePort(), await freePort()];
	const args = (etcd?.command ?? []).map((arg) =>
		arg
			.replace(/0\.0\.0\.0:\d+|etcd:\d+$/, `127.0.0.1:${port}`)
			.replace("/data", join(cwd, "data")),
	);
	const peers = `http://127.0.0.1:${peerPort}`;
	startEtcd(program, [
		...args,
		...["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers],
		...["--initial-cluster", `default=${peers}`],
	]);
	expect(await waitFor("etcd", isHealthy(port))).toBe(true);
});

it("kustomization.yaml names files that are there, and the image that they use", () => {
	const [kustomization] = manifests("kustomization.yaml");
	const { resources = [], images = [] } = kustomization ?? {};
	expect(resources.filter((name) => !existsSync(join(FOLDER, name)))).toEqual(
		[],
	);
	const used = resources
		.flatMap(manifests)
		.flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
		.map(({ image }) => image.replace(/:[^:/]+$/, ""));
	expect([...new Set(used)]).toEqual(images.map(({ name }) => name));
});

it("Dockerfile: docker takes it", async (context) => {
	const run = promisify(execFile);
	await run("docker", ["buildx", "version"]).catch(() =>
		context.skip("there is no docker with buildx here"),
	);
	const args = ["build", "--check", "-f", join(FOLDER, "Dockerfile"), FOLDER];
	await run("docker", args);
});

it("Dockerfile: tini is process 1 and starts the launcher", () => {
	const [, entry = "[]"] =
		/^ENTRYPOINT (\[.+\])$/m.exec(read("Dockerfile")) ?? [];
	expect(JSON.parse(entry)).toEqual(["/usr/bin/tini", "--", "elastic-run"]);
});
