import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { pause } from "../base/back-off.js";
import { onBeat } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import { packageFile } from "../base/package-files.js";
import { type AgentConfig, endpointOf } from "../config/index.js";
import { findSetpriv } from "../processes/index.js";
import {
	markLeft,
	meetingDirectory,
	takeMeetingDirectory,
} from "./data-directory.js";
import { decideHosting, readHostingFacts } from "./decide-hosting.js";
import type { KeeperSettings } from "./etcd-arguments.js";
import { findEtcd } from "./find-etcd.js";
import { Gateway } from "./gateway.js";
import { KEEPER_EXIT, type KeeperEnd } from "./keeper.js";
import { listenerAt } from "./listener.js";
import {
	type FindOptions,
	findMeeting,
	judge,
	judgeAnswerer,
	OtherRun,
	takenWords,
} from "./meeting.js";

const LOOK_EVERY_MS = 200;
/** How long etcd may take to listen on a busy machine. */
const START_WITHIN_MS = 30_000;
/** How often a hosting agent checks that its etcd has a keeper. */
const CHECK_EVERY_MS = 2_000;
/** An unused etcd is kept at least this long. */
const SHORTEST_IDLE_MS = 60_000;
/** So many failures of a keeper in a row double the time until the next check. */
const MOST_FAILURES = 3;
/** How long the ports may be taken although nothing listens: another etcd here may be starting or ending. */
const TAKEN_WITHIN_MS = 5_000;

export interface MeetingOptions extends FindOptions {
	readonly config: AgentConfig;
	readonly log: Pick<Logger, "info" | "warn">;
}

/** The part of the run's etcd that this agent hosts. */
export interface HostedMeeting {
	/** The agent leaves regularly. The etcd stays as long as others use it. */
	close(): void;
}

/** The member of the run's etcd that this agent hosts. */
type OwnPart = Pick<KeeperSettings, "places" | "member" | "listen">;

/**
 * Starts the etcd where the run meets, or this host's member of it, if this agent must. Undefined if another agent does.
 * @throws ElasticRunError USAGE if it cannot be hosted here
 */
export async function openMeeting(
	options: MeetingOptions,
): Promise<HostedMeeting | undefined> {
	const { config, log } = options;
	let part = await ownPart(options);
	if (part === undefined) {
		log.info(
			`meeting at ${config.endpoints.join(", ")}: another node hosts it`,
		);
		// A name or an address may become this machine's while nothing answers there.
		await findMeeting(options, async () => {
			part = await ownPart(options);
			return part !== undefined;
		});
	}
	return part && host(part, options);
}

/** @throws ElasticRunError USAGE if it cannot be hosted here */
async function ownPart({
	config,
	clock,
}: MeetingOptions): Promise<OwnPart | undefined> {
	const facts = await readHostingFacts(config, clock);
	const hosting = decideHosting(facts);
	if (hosting.kind === "refuse") {
		throw refusal(`--rdzv-endpoint: ${hosting.words}`);
	}
	if (hosting.kind === "join") return undefined;
	const { member, listen } = hosting;
	const places = facts.places.map(({ host, port }) => ({ host, port }));
	return { places, member, listen };
}

async function host(
	{ places, member, listen }: OwnPart,
	options: MeetingOptions,
): Promise<HostedMeeting> {
	const { environment, runId, rendezvous, rideOutMs } = options.config;
	const [program, setpriv] = await Promise.all([
		findEtcd(environment),
		findSetpriv(environment.PATH),
	]);
	const base = environment.ELASTIC_RUN_DIR || tmpdir();
	const place = { host: listen[0] ?? "", port: places[member]?.port ?? 0 };
	const directory = meetingDirectory(base, { runId, ...place });
	const idleMs = Math.max(rendezvous.joinTimeoutMs, SHORTEST_IDLE_MS);
	const times = { idleMs, rideOutMs };
	const hosted = new Host(
		{ program, setpriv, runId, directory, places, member, listen, ...times },
		options,
	);
	await hosted.start();
	if (places.length > 1) await findMeeting(options);
	return hosted;
}

class Host implements HostedMeeting {
	private keeper: StartedKeeper | undefined;
	private cancelCheck: () => void = () => {};
	private failures = 0;
	private isClosed = false;

	constructor(
		private readonly settings: KeeperSettings,
		private readonly options: MeetingOptions,
	) {}

	/**
	 * Resolves once an etcd of this run listens at the endpoint. Any node may have started it. While another run has the
	 * endpoint, it waits for that run's end.
	 */
	async start(): Promise<void> {
		const { clock, log, isAborted } = this.options;
		const { endpoint } = this;
		const { directory, runId } = this.settings;
		markLeft(directory, false);
		const other = new OtherRun(this.options);
		let freeAt = clock.now();
		let takenAt: number | undefined;
		let told = "";
		while (!isAborted()) {
			const answerer = await this.gateway.answerer();
			const judged = judgeAnswerer(answerer, { runId, endpoint });
			if (judged.kind === "ours" || this.awaitsOthers(answerer.kind)) break;
			if (judged.kind === "foreign") throw refusal(judged.words);
			if (this.keeper?.end?.kind === "failed") throw this.failed();
			if (answerer.kind === "nobody" && this.isUnkept) {
				if (this.keeper?.end?.kind === "taken") takenAt ??= clock.now();
				const takenMs = clock.now() - (takenAt ?? clock.now());
				if (takenMs >= TAKEN_WITHIN_MS) throw this.failed();
				takeMeetingDirectory(directory);
				this.keeper = new StartedKeeper(this.settings);
			}
			if (judged.kind === "passing") {
				other.see(judged.words);
				freeAt = clock.now();
				takenAt = undefined;
			} else {
				const words = `etcd cannot be hosted at ${endpoint}: ${judged.words}`;
				if (clock.now() - freeAt >= START_WITHIN_MS) {
					if (!(await this.othersServe())) throw refusal(words);
					log.warn(
						`the etcd at ${endpoint} does not serve yet (${judged.words}); the run goes on at the others, and may not bear the loss of one of them before it does`,
					);
					break;
				}
				if (answerer.kind === "mute" && this.isUnkept && words !== told) {
					this.refuseSilentStranger();
					log.warn(`${words}; waiting up to ${START_WITHIN_MS / 1_000} s`);
					told = words;
				}
			}
			await pause(clock, LOOK_EVERY_MS);
		}
		log.info(`meeting at ${endpoint}: this machine hosts it`);
		this.checkLater();
	}

	close(): void {
		if (this.isClosed) return;
		this.isClosed = true;
		this.cancelCheck();
		markLeft(this.settings.directory, true);
	}

	private get endpoint(): string {
		const { places, member } = this.settings;
		const { host = "", port = 0 } = places[member] ?? {};
		return endpointOf(host, port);
	}

	private get gateway(): Gateway {
		const { listen, places, member } = this.settings;
		const { port = 0 } = places[member] ?? {};
		return new Gateway({ host: listen[0] ?? "", port });
	}

	/** Whether another member of the run's etcd answers. */
	private async othersServe(): Promise<boolean> {
		const { runId, endpoints } = this.options.config;
		const others = endpoints.filter((_, at) => at !== this.settings.member);
		const found = await Promise.all(others.map((at) => judge(at, runId)));
		return !this.isUnkept && found.some(({ kind }) => kind === "ours");
	}

	/** A program that listens and says nothing; an etcd may only be starting. */
	private refuseSilentStranger(): void {
		const { places, member } = this.settings;
		const listener = listenerAt(places[member]?.port ?? 0);
		if (listener === undefined || listener.isEtcd) return;
		throw refusal(takenWords(this.endpoint, listener.words));
	}

	/** Whether this agent has no running keeper; another agent may have one. */
	private get isUnkept(): boolean {
		return this.keeper === undefined || this.keeper.end !== undefined;
	}

	/** A member that listens and waits for a majority does not answer yet. */
	private awaitsOthers(kind: string): boolean {
		return kind === "mute" && this.settings.places.length > 1 && !this.isUnkept;
	}

	/** Restarts the keeper if it is gone, with etcd, and nothing listens any more. */
	private checkLater(): void {
		const { clock } = this.options;
		if (this.isClosed) return;
		const pauseMs =
			CHECK_EVERY_MS * 2 ** Math.min(this.failures, MOST_FAILURES);
		const at = onBeat(clock.now() + pauseMs, CHECK_EVERY_MS);
		this.cancelCheck = clock.wakeAt(at, () => {
			this.check().finally(() => this.checkLater());
		});
	}

	/** What made it fail, such as a full disk, may pass as long as its run may go on without it. */
	private async check(): Promise<void> {
		if (!this.isUnkept && this.failures === 0) return;
		const { kind } = await this.gateway.answerer();
		if (kind === "etcd") this.failures = 0;
		if (!this.isUnkept || kind !== "nobody" || this.isClosed) return;
		const { log } = this.options;
		const { end } = this.keeper ?? {};
		if (end?.kind === "failed" || end?.kind === "taken") this.failures += 1;
		const words =
			this.failures === MOST_FAILURES
				? `${this.failed().message}; it is tried again, and again`
				: `the etcd at ${this.endpoint} is gone, and is started again`;
		if (this.failures <= MOST_FAILURES) log.warn(words);
		this.keeper = new StartedKeeper(this.settings);
	}

	private failed(): ElasticRunError {
		const { end } = this.keeper ?? {};
		const words = end !== undefined && "words" in end ? end.words : "";
		const taken =
			end?.kind === "taken"
				? "another process has this port or the next one, which etcd needs too; give another port on every node, in --rdzv-endpoint, or in --master-port: etcd takes the two after that\n"
				: "";
		return refusal(
			`etcd cannot be hosted at ${this.endpoint}: ${taken}${words}`,
		);
	}
}

function refusal(words: string): ElasticRunError {
	return new ElasticRunError("USAGE", words);
}

const PROGRAM = "dist/src/hosting/keeper-process.js";
const MOST_WORDS = 2_000;

class StartedKeeper {
	end: KeeperEnd | undefined;
	private words = "";

	/**
	 * It has its own session and no environment from this agent. So whatever ends the agent and all processes with its mark
	 * does not end the keeper.
	 */
	constructor(settings: KeeperSettings) {
		const child = spawn(
			process.execPath,
			[packageFile(PROGRAM), JSON.stringify(settings)],
			{
				cwd: "/",
				detached: true,
				env: {},
				stdio: ["ignore", "ignore", "pipe"],
			},
		);
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.words = (this.words + text).slice(-MOST_WORDS);
		});
		child.on("error", (error) => {
			this.end = { kind: "failed", words: messageOf(error) };
		});
		child.on("close", (code) => {
			this.end ??= endOf(code, this.words.trim());
		});
		child.unref();
		if ("unref" in child.stderr && typeof child.stderr.unref === "function") {
			child.stderr.unref();
		}
	}
}

function endOf(code: number | null, words: string): KeeperEnd {
	switch (code) {
		case KEEPER_EXIT.done:
			return { kind: "done" };
		case KEEPER_EXIT.asked:
			return { kind: "asked" };
		case KEEPER_EXIT.taken:
			return { kind: "taken", words };
		default:
			return { kind: "failed", words };
	}
}
