import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { externalAddresses } from "../../src/config/host.js";
import { etcdForAll, etcdRange, startEtcd } from "../helpers/etcd.js";
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

	it("of an agent of this machine that was killed is taken over at once", async () => {
		const site = openSite();
		const args = ["--nnodes", "1", "--run-id", "derived", job("obeys.sh")];
		// So long a lease that nobody could wait for its end.
		const options = { conf: `${QUICK},lease_ttl=600` };
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
});

describe("an etcd that cannot be used", { concurrent: true }, () => {
	const noWorker = async ({ ended }: Launch, site: LaunchSite) => {
		const { exitCode, stderr } = await ended;
		expect(site.workers()).toEqual([]);
		expect(site.channelDirectories()).toEqual([]);
		return { exitCode, stderr };
	};

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

	it("open the store and are shown to nobody", async () => {
		const site = openSite();
		const conf = `${QUICK},username=ann`;
		const env = { ELASTIC_RUN_RDZV_PASSWORD: PASSWORD };
		const args = ["--nnodes", "1", "--run-id", "secret", job("obeys.sh")];
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
