import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLI } from "../helpers/cli.js";
import { needEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { livesAt, sawLives } from "../helpers/lives.js";
import { waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

/** The variables of a machine, 127.0.0.<number>. */
const machine = (number: number) => ({
	ELASTIC_RUN_NODE_ID: `node-${number}`,
	ELASTIC_RUN_LOCAL_ADDR: `127.0.0.${number}`,
});

const flags = (port: number) => [
	...["--nnodes=2", "--rdzv-backend=c10d"],
	...[`--rdzv-endpoint=127.0.0.2:${port}`, "--rdzv-conf"],
];
const PATIENT =
	"join_timeout=90,last_call_timeout=1,settle_timeout=20,lease_ttl=15";

/** Workers of a run wait for the run's own release. */
const releaseOf = (site: LaunchSite, id: string) =>
	join(site.path, `release-${id}`);

function agent(
	site: LaunchSite,
	port: number,
	number: number,
	id: string,
	conf = PATIENT,
) {
	return site.launch(
		[...flags(port), conf, `--rdzv-id=${id}`, job("beats.js")],
		{ env: { ...machine(number), JOB_RELEASE: releaseOf(site, id) } },
	);
}

async function isSweptUp(site: LaunchSite): Promise<void> {
	const data = join(site.channels, `elastic-run-meeting-${process.getuid?.()}`);
	await waitFor("the etcd's end", () => readdirSync(data).length === 0);
}

it.concurrent("a second run at the endpoint of one that still runs waits for it, and then runs", async () => {
	needEtcd();
	const site = openSite();
	const port = await freePort();
	const [a, b] = [`a-${port}`, `b-${port}`];
	const first = [2, 3].map((number) => agent(site, port, number, a));
	await sawLives(site, 2, { round: 1 });
	const second = [2, 3].map((number) => agent(site, port, number, b));
	for (const launch of second) {
		await launch.saw(
			"stderr",
			`run ${a} still uses 127.0.0.2:${port}: run ${b} waits for its end`,
		);
	}
	expect(livesAt(site)).toHaveLength(2);
	writeFileSync(releaseOf(site, a), "");
	for (const { ended } of first) expect((await ended).exitCode).toBe(0);
	await sawLives(site, 4, { round: 1 });
	writeFileSync(releaseOf(site, b), "");
	for (const { ended } of second) {
		const { exitCode, stderr } = await ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).not.toMatch(/^.* {4}at /m);
	}
	await isSweptUp(site);
}, 120_000);

it.concurrent("a run whose turn does not come within join_timeout exits with 3, and names the other", async () => {
	needEtcd();
	const site = openSite();
	const port = await freePort();
	const [a, b] = [`a-${port}`, `b-${port}`];
	const first = [2, 3].map((number) => agent(site, port, number, a));
	await sawLives(site, 2, { round: 1 });
	const short = "join_timeout=6,last_call_timeout=1,settle_timeout=4";
	const second = [2, 3].map((number) => agent(site, port, number, b, short));
	for (const { ended } of second) {
		const { exitCode, stderr } = await ended;
		expect(exitCode, stderr).toBe(3);
		expect(stderr).toContain(
			`run ${a} still uses 127.0.0.2:${port}, and has not ended within join_timeout (6s)`,
		);
	}
	writeFileSync(releaseOf(site, a), "");
	for (const { ended } of first) expect((await ended).exitCode).toBe(0);
	await isSweptUp(site);
}, 120_000);

it.concurrent("a loop over learning rates on two machines trains each once", async () => {
	needEtcd();
	const site = openSite();
	const words = [...flags(await freePort()), PATIENT].join(" ");
	const script = `for lr in 1 2; do "$NODE" "$CLI" ${words} --rdzv-id=rates "$JOB" $lr || exit; done`;
	const loops = [2, 3].map((number) =>
		site.start("/bin/sh", ["-c", script], {
			env: {
				...machine(number),
				...{ NODE: process.execPath, CLI, JOB: job("prints.sh") },
			},
		}),
	);
	for (const { ended } of loops) {
		const { exitCode, stderr } = await ended;
		expect(exitCode, stderr).toBe(0);
	}
	const trained = site
		.workers()
		.map(({ args, env }) => `${args.at(-1)} ${env.RANK}/${env.WORLD_SIZE}`);
	expect(trained.sort()).toEqual([...["1 0/2", "1 1/2", "2 0/2", "2 1/2"]]);
	await isSweptUp(site);
}, 180_000);
