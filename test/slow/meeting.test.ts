import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Gateway, type Member } from "../../src/hosting/gateway.js";
import { needEtcd, startEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { freePort } from "../helpers/free-port.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";
import {
	comesBackAndBears,
	kill,
	loseHost,
	Meeting,
	memberServes,
	newest,
} from "../helpers/meeting.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";
import { onTestFinished, sideBySide } from "../helpers/this-test.js";

/** One etcd for one endpoint, on any host. */
const lives = (site: LaunchSite, round: number, count: number) =>
	sawLives(site, count, { round });

sideBySide();

it.concurrent("one of three hosts is killed whole, comes back, and another goes: the run goes on", async () => {
	const meeting = await Meeting.at([2, 3, 4], "1:3");
	const launches = [2, 3, 4].map((number) => meeting.agent(number));
	await newest(meeting, [2, 3, 4]);
	if (launches[0]) await loseHost(meeting, 2, launches[0]);
	await newest(meeting, [3, 4]);
	await comesBackAndBears(meeting, launches);
}, 120_000);

it.concurrent("the hosting agent is killed, and leaves: the run goes on at its etcd", async () => {
	const meeting = await Meeting.at([2], "1:2");
	const host = meeting.agent(2);
	await lives(meeting.site, 1, 1);
	const other = meeting.agent(3);
	await lives(meeting.site, 2, 2);
	host.signal("SIGKILL");
	await host.ended;
	await lives(meeting.site, 3, 1);

	const again = meeting.agent(2);
	await lives(meeting.site, 4, 2);
	again.signal("SIGTERM");
	expect((await again.ended).exitCode).toBe(143);
	await lives(meeting.site, 5, 1);
	expect(meeting.etcds()).toHaveLength(1);
	releaseWorkers(meeting.site);
	expect((await other.ended).exitCode).toBe(0);
	await meeting.isOver();
});

it.concurrent("the only hosting machine dies for good: the others exit with 4, and say why", async () => {
	const conf = "join_timeout=8,last_call_timeout=1,settle_timeout=5";
	const meeting = await Meeting.at([2], "1:2", conf);
	const host = meeting.agent(2);
	await newest(meeting, [2]);
	const other = meeting.agent(3);
	await newest(meeting, [2, 3]);
	await loseHost(meeting, 2, host);
	const { exitCode, stderr } = await other.ended;
	expect(exitCode, stderr).toBe(4);
	expect(stderr).toContain("was lost for longer than join_timeout (8s)");
	await sawEnd(livesAt(meeting.site));
});

it.concurrent("the hosting etcd is killed, then its keeper: both come back with the data", async () => {
	const meeting = await Meeting.at([2], "2");
	meeting.agent(2);
	meeting.agent(3);
	const first = await lives(meeting.site, 1, 2);
	const killed = meeting.etcds();
	kill(killed);
	await waitFor("another etcd", () =>
		meeting.etcds().some((pid) => !killed.includes(pid)),
	);
	await sawBeat(meeting.site, livesAt(meeting.site).slice(-2));

	kill(meeting.keepers());
	await waitFor("another keeper", () => meeting.keepers().length === 1);
	// The store is the same one: a failure is still charged, and both nodes make the next round.
	const { round } = livesAt(meeting.site).at(-1) ?? { round: 1 };
	failWorker(meeting.site, round, 0);
	await lives(meeting.site, round + 1, 2);
	await sawEnd(first);
	releaseWorkers(meeting.site);
	await meeting.ends(0, 0);
	await meeting.isOver();
});

it.concurrent("an etcd that cannot be started for long, as on a full disk, is started once it can be: the round goes on", async () => {
	const folder = temporaryFolder();
	onTestFinished(folder.remove);
	const full = join(folder.path, "full");
	const tries = () => readFileSync(full).length;
	const ETCD_BIN = join(folder.path, "etcd");
	writeFileSync(
		ETCD_BIN,
		`#!/bin/sh\n[ -e ${full} ] && { echo >>${full}; exit 1; }\nexec ${needEtcd()} "$@"\n`,
		{ mode: 0o755 },
	);
	const meeting = await Meeting.at([2], "2", undefined, { ETCD_BIN });
	const host = meeting.agent(2);
	meeting.agent(3);
	const first = await lives(meeting.site, 1, 2);
	writeFileSync(full, "");
	kill(meeting.etcds());
	await host.saw("stderr", "it is tried again, and again");
	const before = tries();
	await waitFor("another try", () => tries() > before);
	rmSync(full);
	await memberServes(meeting, 2);
	await sawBeat(meeting.site, first);
	releaseWorkers(meeting.site);
	await meeting.ends(0, 0);
	await meeting.isOver();
}, 180_000);

it.concurrent("master address and node rank are enough: rank 0 hosts, and has rank 0", async () => {
	needEtcd();
	const site = openSite();
	const port = await freePort();
	const launches = [1, 0].map((rank) =>
		site.launch(
			[
				...["--nnodes=2", `--node-rank=${rank}`, `--run-id=ranks-${port}`],
				...[`--master-addr=127.0.0.1`, `--master-port=${port}`],
				job("beats.js"),
			],
			{ env: { ELASTIC_RUN_NODE_ID: `node-${rank}` } },
		),
	);
	const found = await sawLives(site, 2, { round: 1 });
	const ranks = found.map(({ nodeId, rank }) => [nodeId, rank]).sort();
	expect(ranks).toEqual([
		["node-0", 0],
		["node-1", 1],
	]);
	// B6: workers may meet at the master's own port.
	const server = createServer().listen(port, "127.0.0.1");
	await once(server, "listening");
	server.close();
	releaseWorkers(site);
	for (const { ended } of launches) expect((await ended).exitCode).toBe(0);
});

it.concurrent("nodes whose arguments differ meet without an id, and one warning shows both", async () => {
	needEtcd();
	const site = openSite();
	const port = await freePort();
	const launches = [0, 1].map((rank) =>
		site.launch(
			[
				...["--nnodes=2", `--node-rank=${rank}`, "--rdzv-backend=c10d"],
				...[`--rdzv-endpoint=127.0.0.1:${port}`, job("beats.js")],
				...["--out", `out_${rank}`],
			],
			{ env: { ELASTIC_RUN_NODE_ID: `node-${rank}` } },
		),
	);
	const found = await sawLives(site, 2, { round: 1 });
	expect(found.map(({ rank }) => rank).sort()).toEqual([0, 1]);
	releaseWorkers(site);
	const ends = await Promise.all(launches.map(({ ended }) => ended));
	expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
	const warnings = ends.flatMap(({ stderr }) =>
		stderr.split("\n").filter((line) => line.includes("something else")),
	);
	expect(warnings).toEqual([
		expect.stringMatching(
			/the command: \S+ --out out_(\d) there, \S+ --out out_(?!\1)\d here/,
		),
	]);
});

it.concurrent("-m runs a Python module", async () => {
	const site = openSite();
	writeFileSync(
		join(site.path, "trainer.py"),
		"import sys\nprint('module', __name__, sys.argv[1:])\n",
	);
	const { ended } = site.launch(["--standalone", "-m", "trainer", "--lr", "1"]);
	const { exitCode, stdout } = await ended;
	expect([exitCode, stdout]).toEqual([
		0,
		expect.stringContaining("module __main__ ['--lr', '1']"),
	]);
});

/** Something on a free port of this machine that answers each connection with a line, or never. */
async function stranger(line: string | undefined): Promise<number> {
	const server = createServer((socket) => {
		socket.on("error", () => {});
		if (line !== undefined) socket.end(line);
	});
	onTestFinished(() => {
		server.close();
	});
	const port = await freePort();
	await once(server.listen(port, "127.0.0.1"), "listening");
	return port;
}

// Less than the time that the etcd of another run is waited for.
it("a port that is another's is refused at once, by the host and by those who join", async () => {
	const etcd = await startEtcd();
	const port = await stranger("SSH-2.0\r\n");
	const silent = `127.0.0.1:${await stranger(undefined)}`;
	const site = openSite();
	const places = [etcd.endpoint, `127.0.0.1:${port}`].flatMap((endpoint) =>
		[true, false].map((isHost) => ({ endpoint, isHost })),
	);
	places.push({ endpoint: silent, isHost: true });
	const launches = places.map(({ endpoint, isHost }, index) =>
		site.launch(
			[
				...["--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint", endpoint],
				...["--rdzv-conf", `is_host=${isHost}`, job("beats.js")],
			],
			{ env: { ELASTIC_RUN_NODE_ID: `node-${index}` } },
		),
	);
	const ends = await Promise.all(launches.map(({ ended }) => ended));
	expect(ends.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2, 2, 2]);
	const words = [
		"is taken by an etcd that was not started for a run; to use it give --rdzv-backend etcd",
		"is taken by something that is no etcd of this run; give another port in --rdzv-endpoint",
		// C12
		`(pid ${process.pid}); give another port in --rdzv-endpoint`,
	];
	ends.forEach(({ stderr }, index) => {
		expect(stderr).toContain(places[index]?.endpoint);
		expect(stderr).toContain(words[Math.floor(index / 2)]);
	});
}, 25_000);

it.concurrent("one of three hosts comes back without its data: it joins as a new member, and bears the loss of another", async () => {
	const meeting = await Meeting.at([2, 3, 4], "1:3");
	const launches = [2, 3, 4].map((number) => meeting.agent(number));
	await newest(meeting, [2, 3, 4]);
	if (launches[0]) await loseHost(meeting, 2, launches[0]);
	await newest(meeting, [3, 4]);
	const own = meeting.data().filter((name) => name.startsWith("127.0.0.2-"));
	expect(own).toHaveLength(1);
	for (const name of own) {
		const parent = `elastic-run-meeting-${process.getuid?.()}`;
		rmSync(join(meeting.site.channels, parent, name), { recursive: true });
	}
	await comesBackAndBears(meeting, launches);
}, 180_000);

it.concurrent("a member that somebody removed from the etcd comes back as a new one", async () => {
	const meeting = await Meeting.at([2, 3, 4], "3");
	const launches = [2, 3, 4].map((number) => meeting.agent(number));
	await newest(meeting, [2, 3, 4]);
	const at = (number: number) =>
		new Gateway({ host: `127.0.0.${number}`, port: meeting.port });
	await memberServes(meeting, 2);
	const first = ownOf(await at(3).members());
	// Etcd refuses until the others have been connected for 5 s.
	await poll("the removal", 60_000, () =>
		at(3)
			.removeMember(first?.id ?? "")
			.then(
				() => true,
				() => undefined,
			),
	);
	await waitFor(
		"the end of what was removed",
		() => meeting.etcds(2)[0] === undefined,
	);
	await memberServes(meeting, 2);
	expect(ownOf(await at(2).members())?.id).not.toBe(first?.id);
	expect(await at(2).members()).toHaveLength(3);
	releaseWorkers(meeting.site);
	for (const { ended } of launches) expect((await ended).exitCode).toBe(0);
}, 180_000);

const ownOf = (members: readonly Member[]) =>
	members.find(({ peerUrls }) =>
		peerUrls.some((url) => url.includes("//127.0.0.2:")),
	);
