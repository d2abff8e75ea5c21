import { expect, it } from "vitest";
import { needEtcd } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { twoMachines } from "../helpers/network.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

const PORT = 29_400;
const flags = (host: string) => [
	...["--nnodes=2", "--rdzv-backend=c10d", "--rdzv-id=networks"],
	...[`--rdzv-endpoint=${host}:${PORT}`, "--rdzv-conf=join_timeout=90"],
	job("adds-up.js"),
];

async function openNetwork() {
	needEtcd();
	const site = openSite();
	return { site, machines: await twoMachines(site) };
}

it.concurrent("K3: a host with the name 127.0.1.1 and a bridge gives the address on the way to its peers", async () => {
	const { site, machines } = await openNetwork();
	const [node0, node1] = machines;
	node0.joins(node1);
	node0.knows("127.0.1.1 node0");
	node1.knows("10.77.0.1 node0");
	node1.knows("10.77.0.2 node1");
	node0.launch(["--node-rank=0", ...flags("node0")]);
	node1.launch(["--node-rank=1", ...flags("node0")]);
	const workers = await site.sawWorkers(2, 1);
	const seen = workers.map(({ env }) => [
		...[env.ELASTIC_RUN_NODE_ID, env.MASTER_ADDR, env.GLOO_SOCKET_IFNAME],
	]);
	expect(seen.sort()).toEqual([
		["node0", "10.77.0.1", "eth0"],
		["node1", "10.77.0.1", undefined],
	]);
}, 120_000);

it.concurrent("K3: who joins says which address does not answer", async () => {
	const { site, machines } = await openNetwork();
	const [node0, node1] = machines;
	node0.joins(node1);
	const host = node0.launch([
		...["--local-addr=172.17.0.1", ...flags("10.77.0.1")],
	]);
	await host.saw("stderr", "JOINING claims round 1");
	const peer = node1.launch(flags("10.77.0.1"));
	await peer.saw(
		"stderr",
		"node0 gives 172.17.0.1 as its address, which did not answer here (ENETUNREACH)",
	);
	expect(site.workers(1)).toEqual([]);
}, 120_000);

it.concurrent("K4: the endpoint's name appears late: the machine that it names begins to host", async () => {
	const { site, machines } = await openNetwork();
	const [node0, node1] = machines;
	node0.joins(node1);
	const launches = machines.map((machine) => machine.launch(flags("alias")));
	for (const launch of launches) {
		await launch.saw("stderr", "meeting at alias:29400: another node hosts it");
	}
	for (const machine of machines) machine.knows("10.77.0.1 alias");
	await site.sawWorkers(2, 1);
	expect(launches[0]?.output.stderr).toContain(
		"meeting at alias:29400: this machine hosts it",
	);
}, 120_000);

it.concurrent.each([
	["10.77.0.1", "another node hosts it"],
	["node0", "waits for its network"],
])(
	"K4: a network that comes up late, the endpoint is %s",
	async (host, words) => {
		const { site, machines } = await openNetwork();
		const [node0, node1] = machines;
		node0.knows("127.0.1.1 node0");
		node1.knows("10.77.0.1 node0");
		const first = node0.launch(["--node-rank=0", ...flags(host)]);
		const second = node1.launch(["--node-rank=1", ...flags(host)]);
		await first.saw("stderr", words);
		await second.saw("stderr", "another node hosts it");
		node0.joins(node1);
		const [worker] = await site.sawWorkers(2, 1);
		expect(worker?.env.MASTER_ADDR).toBe("10.77.0.1");
	},
	120_000,
);
