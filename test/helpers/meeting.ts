import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { needEtcd } from "./etcd.js";
import { EtcdGateway, poll } from "./etcd-gateway.js";
import { freePort } from "./free-port.js";
import { job, type Launch, openSite } from "./launch.js";
import { livesAt, releaseWorkers } from "./lives.js";
import { endProcess, isAlive, waitFor } from "./processes.js";
import { onTestFailed, onTestFinished } from "./this-test.js";

const BOUND_MS = 60_000;
/** Rounds are counted here: a busy machine's etcd, silent for 4 s, must not end one. */
const CONF =
	"join_timeout=60,last_call_timeout=1,settle_timeout=20,lease_ttl=15";

let runs = 0;

/** A run of agents that host their etcd; each address stands for a machine, whose name is `node-<its last number>`. */
export class Meeting {
	readonly site = openSite();
	readonly runId = `meeting-${process.pid}-${++runs}`;
	private readonly launches = new Map<number, Launch>();

	constructor(
		readonly port: number,
		readonly hosts: readonly number[],
		readonly nodes: string,
		readonly conf = CONF,
		private readonly env: Readonly<Record<string, string>> = {},
	) {
		onTestFinished(() => {
			for (const pid of [...this.keepers(), ...this.etcds()]) endProcess(pid);
		});
		onTestFailed(() => {
			for (const [number, { output }] of this.launches) {
				console.log(`node-${number}:\n${output.stderr}`);
			}
		});
	}

	static async at(
		hosts: readonly number[],
		nodes: string,
		conf?: string,
		env?: Readonly<Record<string, string>>,
	): Promise<Meeting> {
		needEtcd();
		return new Meeting(await freePort(), hosts, nodes, conf, env);
	}

	/** Starts the agent of the machine 127.0.0.<number>. */
	agent(number: number, ...flags: readonly string[]): Launch {
		const endpoint = this.hosts
			.map((host) => `127.0.0.${host}:${this.port}`)
			.join(",");
		const launch = this.site.launch(
			[
				...[`--nnodes=${this.nodes}`, `--rdzv-id=${this.runId}`],
				...["--rdzv-backend=c10d", `--rdzv-endpoint=${endpoint}`],
				...["--rdzv-conf", this.conf, "--local-addr", `127.0.0.${number}`],
				...[...flags, job("beats.js")],
			],
			{
				env: {
					...this.env,
					ELASTIC_RUN_NODE_ID: `node-${number}`,
					ELASTIC_RUN_LOG_DIR: join(this.site.logs, String(number)),
				},
			},
		);
		this.launches.set(number, launch);
		return launch;
	}

	keepers(): readonly number[] {
		return processesWith(`etcd-keeper ${this.runId}`);
	}

	/** The members of these machines, or of all. */
	etcds(number?: number): readonly number[] {
		const host = number === undefined ? "" : `http://127.0.0.${number}:`;
		return processesWith(`elastic-run.${this.runId}.`).filter((pid) => {
			const args = argumentsOf(pid);
			const listen = args[args.indexOf("--listen-client-urls") + 1] ?? "";
			return args.includes("--data-dir") && listen.startsWith(host);
		});
	}

	/** Waits until the keepers have ended, and their etcd with its data. */
	async isOver(): Promise<void> {
		await waitFor("the etcd's end", () => {
			const left = [...this.keepers(), ...this.etcds(), ...this.data()];
			return left.length === 0;
		});
	}

	data(): readonly string[] {
		const uid = process.getuid?.();
		const parent = join(this.site.channels, `elastic-run-meeting-${uid}`);
		return readdirSync(parent);
	}

	async ends(...exitCodes: readonly (number | null)[]): Promise<void> {
		const ends = await Promise.all(
			[...this.launches.values()].map((launch) => launch.ended),
		);
		const found = ends.map(({ exitCode }) => exitCode);
		expect(found, ends.map(({ stderr }) => stderr).join("\n")).toEqual(
			exitCodes,
		);
	}
}

function argumentsOf(pid: number): readonly string[] {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
	} catch {
		return [];
	}
}

function processesWith(text: string): readonly number[] {
	return readdirSync("/proc")
		.map(Number)
		.filter(
			(pid) =>
				pid > 0 && argumentsOf(pid).join(" ").includes(text) && isAlive(pid),
		);
}

export const kill = (pids: readonly number[]) => {
	expect(pids).not.toEqual([]);
	pids.forEach(endProcess);
};

/** Kills all that runs on one machine: its keeper, its etcd and its agent. */
export async function loseHost(
	meeting: Meeting,
	number: number,
	launch: Launch,
): Promise<void> {
	const etcds = meeting.etcds(number);
	const keepers = meeting
		.keepers()
		.filter((pid) => etcds.some((etcd) => parentOf(etcd) === pid));
	kill([...keepers, ...etcds]);
	launch.signal("SIGKILL");
	await launch.ended;
}

function parentOf(pid: number): number {
	const text = readFileSync(`/proc/${pid}/stat`, "utf8");
	return Number(text.slice(text.lastIndexOf(") ") + 2).split(" ")[1]);
}

/** Waits until the newest workers are those of these machines, and live. */
export async function newest(
	meeting: Meeting,
	numbers: readonly number[],
): Promise<void> {
	const wanted = numbers.map((number) => `node-${number}`).join();
	await waitFor(`a round of ${wanted}`, () => {
		const all = livesAt(meeting.site);
		const round = Math.max(0, ...all.map((life) => life.round));
		const members = all.filter((life) => life.round === round);
		const ids = members.map(({ nodeId }) => nodeId).sort();
		return ids.join() === wanted && members.every(({ pid }) => isAlive(pid));
	});
}

/** Waits until the member of this machine answers with what the cluster has agreed on: it has joined, and lags not. */
export async function memberServes(
	{ port }: Meeting,
	number: number,
): Promise<void> {
	const url = `http://127.0.0.${number}:${port}`;
	const gateway = new EtcdGateway(url, undefined);
	await poll(`the member of node-${number}`, BOUND_MS, async () =>
		(await gateway.isHealthy()) ? true : undefined,
	);
}

/** Of the hosts 2, 3 and 4 the first was lost: it comes back, and the run then bears the loss of the second. */
export async function comesBackAndBears(
	meeting: Meeting,
	launches: readonly Launch[],
): Promise<void> {
	const again = meeting.agent(2);
	await newest(meeting, [2, 3, 4]);
	await memberServes(meeting, 2);
	if (launches[1]) await loseHost(meeting, 3, launches[1]);
	await newest(meeting, [2, 4]);
	releaseWorkers(meeting.site);
	expect((await again.ended).exitCode).toBe(0);
	expect((await launches[2]?.ended)?.exitCode).toBe(0);
}
