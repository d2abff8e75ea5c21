import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { externalAddresses } from "../../src/config/host.js";
import { etcdForAll, etcdRange, leases, startEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import {
	job,
	type Launch,
	type LaunchSite,
	openSite,
	type WorkerRecord,
} from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";
import { onTestFinished, sideBySide } from "../helpers/this-test.js";

/** Time-outs that end a test in seconds. */
const QUICK = "join_timeout=60,last_call_timeout=1,settle_timeout=20";
const IMPATIENT = "join_timeout=2,last_call_timeout=0.5,settle_timeout=1";
const PASSWORD = "correct-horse-battery";

/** Starts an agent of a run at this etcd; its node id is the host's name unless it is given. */
function start(
	site: LaunchSite,
	endpoint: string,
	args: readonly string[],
	options: {
		readonly nodeId?: string;
		readonly env?: Readonly<Record<string, string>>;
		readonly conf?: string;
	} = {},
): Launch {
	const { nodeId = "", env = {}, conf = QUICK } = options;
	return site.launch(
		["--rdzv-endpoint", endpoint, "--rdzv-conf", conf, ...args],
		{ env: { ELASTIC_RUN_NODE_ID: nodeId, ...env } },
	);
}

const variables = (workers: readonly WorkerRecord[], name: string) =>
	workers.map(({ env }) => env[name]);

/** A way to a server by another address of this machine; it ends with the test. */
async function openWay(host: string, endpoint: string): Promise<string> {
	const port = Number(endpoint.split(":").at(-1));
	const sockets: Socket[] = [];
	const server = createServer((socket) => {
		const onward = connect(port, "127.0.0.1");
		socket.pipe(onward).pipe(socket);
		sockets.push(socket, onward);
		for (const end of [socket, onward]) end.on("error", () => end.destroy());
	});
	onTestFinished(() => {
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	const ownPort = await freePort();
	await once(server.listen(ownPort, host), "listening");
	return `${host}:${ownPort}`;
}

async function end(launches: readonly Launch[]): Promise<void> {
	for (const launch of launches) launch.signal("SIGTERM");
	for (const launch of launches) {
		expect((await launch.ended).exitCode).toBe(143);
	}
}

sideBySide();

describe("agents that meet at an etcd", { concurrent: true }, () => {
	const etcd = etcdForAll();

	// Alone: it looks at all leases.
	it("T15 form one world of different sizes and roles", {
		concurrent: false,
	}, async () => {
		const site = openSite();
		const args = ["--nnodes", "2", "--run-id", "world"];
		const big = ["--nproc-per-node", "2", "--role", "trainer"];
		const launches = [
			start(site, etcd().endpoint, [...args, ...big, job("obeys.sh")], {
				nodeId: "node-a",
			}),
			start(site, etcd().endpoint, [...args, job("obeys.sh")], {
				nodeId: "node-b",
			}),
		];
		const workers = await site.sawWorkers(3, 1);
		expect(variables(workers, "RANK")).toEqual(["0", "1", "2"]);
		for (const [name, value] of [
			["WORLD_SIZE", "3"],
			["GROUP_WORLD_SIZE", "2"],
			["ELASTIC_RUN_RUN_ID", "world"],
			["ELASTIC_RUN_ROUND", "1"],
			["MASTER_ADDR", "127.0.0.1"],
		] as const) {
			expect(variables(workers, name)).toEqual([value, value, value]);
		}
		const [port, ...ports] = variables(workers, "MASTER_PORT");
		expect(Number(port)).toBeGreaterThan(0);
		expect(ports).toEqual([port, port]);
		expect(new Set(variables(workers, "ELASTIC_RUN_INSTANCE")).size).toBe(1);
		const of = (nodeId: string) =>
			workers
				.filter(({ env }) => env.ELASTIC_RUN_NODE_ID === nodeId)
				.map(({ env }) => [
					env.LOCAL_RANK,
					env.LOCAL_WORLD_SIZE,
					env.ROLE_NAME,
					env.ROLE_RANK,
					env.ROLE_WORLD_SIZE,
				]);
		expect(of("node-a")).toEqual([
			["0", "2", "trainer", "0", "2"],
			["1", "2", "trainer", "1", "2"],
		]);
		expect(of("node-b")).toEqual([["0", "1", "default", "0", "1"]]);
		const groups = workers.map(({ env }) => [
			env.ELASTIC_RUN_NODE_ID,
			env.GROUP_RANK,
		]);
		expect(new Set(groups.map((group) => group.join())).size).toBe(2);
		await end(launches);
		expect(await leases(etcd())).toEqual([]);
	});

	it("J10 all succeed together", async () => {
		const site = openSite();
		const args = ["--nnodes", "2", "--run-id", "done", "true"];
		const launches = ["node-a", "node-b"].map((nodeId) =>
			start(site, etcd().endpoint, args, { nodeId }),
		);
		for (const { ended } of launches) {
			const { exitCode, stderr } = await ended;
			expect(stderr).toContain("run done succeeded: 1 round");
			expect(exitCode).toBe(0);
		}
	});

	it("get different node ids where the same command starts twice at once", async () => {
		const site = openSite();
		const args = ["--nnodes", "3", job("obeys.sh")];
		const launches = [1, 2, 3].map(() => start(site, etcd().endpoint, args));
		const workers = await site.sawWorkers(3, 1);
		const host = hostname().replaceAll(/[^A-Za-z0-9._-]+/g, "-");
		expect(variables(workers, "ELASTIC_RUN_NODE_ID").sort()).toEqual(
			[host, `${host}-2`, `${host}-3`].sort(),
		);
		expect(new Set(variables(workers, "ELASTIC_RUN_RUN_ID")).size).toBe(1);
		await end(launches);
	});

	it("T9 are told the address of the way to etcd, which others can reach", async (context) => {
		const [external] = externalAddresses();
		if (external === undefined || isIP(external) !== 4) {
			context.skip("this machine has no IPv4 address but loopback");
		}
		const way = await openWay(`${external}`, etcd().endpoint);
		const site = openSite();
		const args = ["--nnodes", "2", "--run-id", "outside", job("obeys.sh")];
		const launches = ["node-a", "node-b"].map((nodeId) =>
			start(site, way, args, { nodeId }),
		);
		const workers = await site.sawWorkers(2, 1);
		expect(variables(workers, "MASTER_ADDR")).toEqual([external, external]);
		for (const { output } of launches) {
			expect(output.stderr).not.toContain("only agents of this machine");
		}
		await end(launches);
	});

	it("say once that a loopback address leads nowhere from other machines", async () => {
		const site = openSite();
		const args = ["--nnodes", "2", "--run-id", "alone", "true"];
		const { ended } = start(site, etcd().endpoint, args, { conf: IMPATIENT });
		const { exitCode, stderr } = await ended;
		const said = stderr.match(/only agents of this machine can reach etcd/g);
		expect(said).toHaveLength(2);
		expect(stderr).toContain("ELASTIC_RUN_RDZV_ENDPOINT=host:2379");
		expect(stderr).toContain("rendezvous timed out after 2 s");
		expect(exitCode).toBe(3);
	});

	it("refuse an agent whose settings differ, with both values", async () => {
		const site = openSite();
		const args = ["--run-id", "differ", job("obeys.sh")];
		const first = start(site, etcd().endpoint, ["--nnodes", "1:2", ...args]);
		await site.sawWorkers(1);
		const other = ["--nnodes", "1:3", "--max-restarts", "7", ...args];
		const { exitCode, stderr } = await start(site, etcd().endpoint, other)
			.ended;
		expect(stderr).toContain("--nnodes: 1:2 there, 1:3 here");
		expect(stderr).toContain("--max-restarts: 3 there, 7 here");
		expect(exitCode).toBe(3);
		await end([first]);
	});

	it("refuse one of two whose settings differ that start together", async () => {
		const site = openSite();
		const args = ["--run-id", "at-once", job("obeys.sh")];
		const begin = (nodeId: string, nnodes: string) =>
			start(site, etcd().endpoint, ["--nnodes", nnodes, ...args], { nodeId });
		const launches = [begin("node-a", "1:2"), begin("node-b", "1:3")];
		const refused = await Promise.race(
			launches.map(async (launch) => ({ launch, ...(await launch.ended) })),
		);
		expect(refused.stderr).toContain("settings differ from the run's");
		expect(refused.exitCode).toBe(3);
		await site.sawWorkers(1);
		await end(launches.filter((launch) => launch !== refused.launch));
	});

	it("compare a policy by its file's content, wherever it lies", async () => {
		const site = openSite();
		const policy = (name: string, reason: string) => {
			const file = join(site.path, name);
			const decide = `() => ({ workers: "restart", charge: "run", reason: "${reason}" })`;
			writeFileSync(
				file,
				`export default { name: "mine", onScaleUp: ${decide}, onScaleDown: ${decide}, onWorkerFailure: ${decide} };`,
			);
			return ["--restart-policy", file];
		};
		const args = ["--nnodes", "2", "--run-id", "policies", job("obeys.sh")];
		const begin = (name: string, reason: string) =>
			start(site, etcd().endpoint, [...policy(name, reason), ...args]);
		const first = begin("a.mjs", "because");
		await waitFor("the first agent's spec", () =>
			first.output.stderr.includes("claims round 1"),
		);
		const { exitCode, stderr } = await begin("b.mjs", "why not").ended;
		expect(stderr).toMatch(
			/--restart-policy: mine sha256:[0-9a-f]{16} there, mine sha256:[0-9a-f]{16} here/,
		);
		expect(exitCode).toBe(3);
		const second = begin("c.mjs", "because");
		await site.sawWorkers(2, 1);
		await end([first, second]);
	});

	it("warn who starts the same command again and so joins the run", async () => {
		const site = openSite();
		const args = ["--nnodes", "1:2", job("obeys.sh")];
		const first = start(site, etcd().endpoint, args);
		await site.sawWorkers(1, 1);
		const second = start(site, etcd().endpoint, args);
		await site.sawWorkers(2, 2);
		const warning = /run obeys-[0-9a-f]{8} is under way without this node/g;
		expect(second.output.stderr.match(warning)).toHaveLength(1);
		expect(first.output.stderr).not.toMatch(warning);
		await end([first, second]);
	});

	it("tell a node once that it is a spare, also where somebody has named the run", async () => {
		const site = openSite();
		const args = ["--nnodes", "1", "--run-id", "full", job("obeys.sh")];
		const first = start(site, etcd().endpoint, args, { nodeId: "node-a" });
		await site.sawWorkers(1, 1);
		const spare = start(site, etcd().endpoint, args, { nodeId: "node-b" });
		const words = "run full has as many nodes as --nnodes allows (1)";
		await spare.saw("stderr", words);
		await end([first]);
		await end([spare]);
		expect(spare.output.stderr.split(words)).toHaveLength(2);
		expect(first.output.stderr).not.toContain(words);
	});
});

describe("a node id", { concurrent: true }, () => {
	const etcd = etcdForAll();

	it("that a living agent holds: 3, naming it", async () => {
		const site = openSite();
		const args = ["--nnodes", "1:2", "--run-id", "held", job("obeys.sh")];
		const conf = `${QUICK},lease_ttl=2`;
		const held = { nodeId: "node-a", conf };
		const first = start(site, etcd().endpoint, args, held);
		await site.sawWorkers(1);
		const { exitCode, stderr } = await start(site, etcd().endpoint, args, held)
			.ended;
		expect(stderr).toContain(
			`node id node-a is taken by pid ${first.pid} on this machine; give this agent another --node-id`,
		);
		expect(exitCode).toBe(3);
		await end([first]);
	});

	it.each([
		["given", "node-a"],
		["derived", ""],
	])("of an agent of this machine that was killed is taken over at once: %s", async (how, nodeId) => {
		const site = openSite();
		const args = ["--nnodes", "1", "--run-id", how, job("obeys.sh")];
		// So long a lease that nobody could wait for its end.
		const options = { nodeId, conf: `${QUICK},lease_ttl=600` };
		const killed = start(site, etcd().endpoint, args, options);
		await site.sawWorkers(1, 1);
		killed.signal("SIGKILL");
		await killed.ended;
		const next = start(site, etcd().endpoint, args, options);
		const [first, second] = await site.sawWorkers(2);
		expect(first?.env.ELASTIC_RUN_NODE_ID).toBe(
			second?.env.ELASTIC_RUN_NODE_ID,
		);
		expect(next.output.stderr).not.toContain("is under way without");
		await end([next]);
	});

	it("that another process has by now ends the frozen agent that wakes: 3", async () => {
		const site = openSite();
		const args = ["--nnodes", "1:2", "--run-id", "frozen", job("obeys.sh")];
		const options = { nodeId: "node-a", conf: `${QUICK},lease_ttl=2` };
		const frozen = start(site, etcd().endpoint, args, options);
		await site.sawWorkers(1, 1);
		frozen.signal("SIGSTOP");
		// It is not gone, and so its lease is waited for.
		const next = start(site, etcd().endpoint, args, options);
		await site.sawWorkers(2);
		frozen.signal("SIGCONT");
		const { exitCode, stderr } = await frozen.ended;
		expect(stderr).toContain(`node id node-a is taken by pid ${next.pid}`);
		expect(exitCode).toBe(3);
		expect(next.hasEnded).toBe(false);
		await end([next]);
	});
});

describe("an etcd that cannot be used", { concurrent: true }, () => {
	const noWorker = async ({ ended }: Launch, site: LaunchSite) => {
		const { exitCode, stderr } = await ended;
		expect(site.workers()).toEqual([]);
		expect(site.channelDirectories()).toEqual([]);
		return { exitCode, stderr };
	};

	it("is tried until the join time-out: 4, with address and reason", async () => {
		const site = openSite();
		const endpoint = `127.0.0.1:${await freePort()}`;
		const args = ["--nnodes", "2", "true"];
		const launch = start(site, endpoint, args, { conf: IMPATIENT });
		const { exitCode, stderr } = await noWorker(launch, site);
		const last = stderr.trimEnd().split("\n").at(-1);
		expect(last).toMatch(/^elastic-run: /);
		expect(last).toContain(endpoint);
		expect(last).toMatch(/refused/);
		expect(last).toMatch(/Tried for \d+ s; only agents of this machine/);
		expect(exitCode).toBe(4);
	});

	it("does not keep who is told to stop", async () => {
		const site = openSite();
		const endpoint = `127.0.0.1:${await freePort()}`;
		const launch = start(site, endpoint, ["--nnodes", "2", "true"]);
		await launch.saw("stderr", "only agents of this machine");
		launch.signal("SIGTERM");
		const { exitCode } = await noWorker(launch, site);
		expect(exitCode).toBe(143);
	});

	it("is lost and comes back: one line each, and nothing else happens", async () => {
		const etcd = await startEtcd();
		const proxy = await startProxy(etcd.endpoint);
		const site = openSite();
		const conf = `${QUICK},lease_ttl=60`;
		const args = ["--nnodes", "1", "--run-id", "cut", job("obeys.sh")];
		const launch = start(site, proxy.endpoint, args, { conf });
		await site.sawWorkers(1);
		proxy.cut();
		await launch.saw("stderr", "the store is lost, and is tried again");
		await proxy.resume();
		await launch.saw("stderr", "the store is back after");
		await end([launch]);
		const { stderr } = await launch.ended;
		expect(stderr.match(/the store is (lost|back)/g)).toEqual([
			"the store is lost",
			"the store is back",
		]);
		expect(site.workers()).toHaveLength(1);
	});

	it("does not keep who leaves when it is lost", async () => {
		const etcd = await startEtcd();
		const proxy = await startProxy(etcd.endpoint);
		const site = openSite();
		const conf = `${QUICK},lease_ttl=60`;
		const args = ["--nnodes", "1", "--run-id", "lost", job("obeys.sh")];
		const launch = start(site, proxy.endpoint, args, { conf });
		await site.sawWorkers(1);
		proxy.stall();
		launch.signal("SIGTERM");
		const { exitCode, stderr } = await launch.ended;
		expect(stderr).toContain("its lease lapses within 60 s");
		expect(exitCode).toBe(143);
	});

	it("J20 refuses a wrong password: 4, without waiting long", async () => {
		const etcd = await startEtcd({ auth: { user: "ann", password: PASSWORD } });
		const site = openSite();
		const conf = `${QUICK},username=ann`;
		const env = { ELASTIC_RUN_RDZV_PASSWORD: "wrong-password" };
		const launch = start(site, etcd.endpoint, ["--nnodes", "2", "true"], {
			conf,
			env,
		});
		const { exitCode, stderr } = await noWorker(launch, site);
		expect(stderr).toContain(etcd.endpoint);
		expect(stderr).toMatch(/password|authenticat/i);
		expect(stderr).not.toContain("wrong-password");
		expect(stderr).not.toContain("still trying");
		expect(exitCode).toBe(4);
	});
});

describe("J20 credentials", { concurrent: true }, () => {
	const auth = { user: "ann", password: PASSWORD, prefix: "/elastic-run/" };
	const etcd = etcdForAll({ auth });

	it.each([
		"variable",
		"file",
	])("by a %s open the store and are shown to nobody", async (how) => {
		const site = openSite();
		const file = join(site.path, "password");
		writeFileSync(file, `${PASSWORD}\n`, { mode: 0o600 });
		const isFile = how === "file";
		const conf = `${QUICK},username=ann${isFile ? `,password_file=${file}` : ""}`;
		const env = isFile ? {} : { ELASTIC_RUN_RDZV_PASSWORD: PASSWORD };
		const args = ["--nnodes", "1", "--run-id", how, job("obeys.sh")];
		const launch = start(site, etcd().endpoint, args, { conf, env });
		const [worker] = await site.sawWorkers(1);
		expect(JSON.stringify(worker)).not.toContain(PASSWORD);
		expect(readFileSync(`/proc/${launch.pid}/cmdline`, "utf8")).not.toContain(
			PASSWORD,
		);
		expect(JSON.stringify(await etcdRange(etcd(), ""))).not.toContain(PASSWORD);
		await end([launch]);
		const dryRun = await start(
			site,
			etcd().endpoint,
			["--dry-run", "--output", "json", ...args],
			{ conf, env },
		).ended;
		expect(dryRun.exitCode).toBe(0);
		const { stdout, stderr } = await launch.ended;
		const shown = [dryRun.stdout, dryRun.stderr, stdout, stderr].join("");
		expect(shown).not.toContain(PASSWORD);
	});

	it("of a certificate, and no other, open a store over TLS", async () => {
		const secure = await startEtcd({ tls: "mutual" });
		const { cacert, cert, key } = secure.certificates ?? {};
		const site = openSite();
		const args = ["--nnodes", "2", "--run-id", "tls", job("obeys.sh")];
		const conf = `${QUICK},cacert=${cacert},cert=${cert},key=${key}`;
		const launches = ["node-a", "node-b"].map((nodeId) =>
			start(site, secure.endpoint, args, { conf, nodeId }),
		);
		await site.sawWorkers(2, 1);
		await end(launches);
		const bare = start(site, secure.endpoint, ["--nnodes", "2", "true"], {
			conf: `${IMPATIENT},cacert=${cacert}`,
		});
		const { exitCode, stderr } = await bare.ended;
		expect(stderr).toContain(secure.endpoint);
		expect(exitCode).toBe(4);
	});
});
