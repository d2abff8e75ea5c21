import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { externalAddresses } from "../../src/config/local-address.js";
import { etcdForAll, etcdRange, startEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import {
	job,
	type Launch,
	type LaunchSite,
	openSite,
	type WorkerRecord,
} from "../helpers/launch.js";
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
});

describe("a node id", { concurrent: true }, () => {
	const etcd = etcdForAll();

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
