import { join } from "node:path";
import type { Cleanups } from "../base/cleanups.js";
import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { Shape } from "../base/shape.js";
import type { AgentConfig } from "../config/index.js";
import {
	ExitWatch,
	HangInquiry,
	type HangInquiryOptions,
	HangWatch,
	type HangWatchOptions,
	type HungWorker,
	LostSteps,
	StuckWatch,
	type WatchedNode,
	WhyWatch,
} from "../hangs/index.js";
import { lastLines } from "../logs/index.js";
import {
	EVIDENCE,
	PROGRESS,
	type StartSource,
	type StepSource,
	type Topic,
} from "../model/index.js";
import { readOomKills } from "../processes/index.js";
import {
	encodeRecord,
	informationAt,
	KEPT_ROUNDS,
	ledgerRecords,
	type Membership,
	RunKeys,
} from "../rendezvous/index.js";
import { readErrorFile } from "../status/index.js";
import {
	furthestOfAll,
	type NodeProcess,
	RoundLedger,
	type RoundLedgerOptions,
	StepWatch,
	type StepWatchOptions,
	StragglerWatch,
	WorkerReaders,
} from "../steps/index.js";
import type { Store } from "../store/index.js";
import type { AgentInput } from "./machine/inputs.js";
import type { AgentState } from "./machine/state.js";
import { RULE_LINES } from "./workers/explain-end.js";
import type { NodeResources, Replies } from "./workers/node-resources.js";
import type { WorkerGroup } from "./workers/worker-group.js";

/** Deletions per transaction; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

export interface OpenStepsOptions {
	readonly clock: Clock;
	readonly log: Logger;
	readonly cleanups: Cleanups;
	readonly config: AgentConfig;
	readonly logDirectory: string;
	readonly store: Store;
	/** When this agent came to the run, in milliseconds since 1970. */
	readonly arrivedAt: number;
	readonly membership: Pick<Membership, "lease">;
	readonly workers: Pick<WorkerGroup, "processes">;
	readonly replies: Pick<Replies, "readNow">;
	readonly resources: Pick<NodeResources, "logSpace" | "channelSpace">;
	readonly dispatch: (input: AgentInput) => void;
	readonly onLook: StepWatchOptions["onLook"];
	readonly onHang: HangWatchOptions["onHang"];
	readonly starts: StartSource | undefined;
	/** Called with the pid of a worker that has made a step. */
	readonly onStep: (pid: number, source: StepSource) => void;
}

/** What follows the workers of a node while they run and while they end. */
export interface OpenSteps {
	readonly steps: StepWatch;
	readonly stuck: StuckWatch;
	readonly ledger: Pick<RoundLedger, "close">;
	/** Takes each new state of the agent. */
	readonly follow: (state: AgentState) => void;
}

/** Follows the workers' steps, publishes them, counts the time, and acts where none comes. */
export function openSteps(options: OpenStepsOptions): OpenSteps {
	const { clock, log, config, store, workers, replies, onLook } = options;
	const { nodeId } = config;
	const keys = new RunKeys(config.runId);
	const processes = () => workers.processes;
	const readReports = () => {
		for (const { directory } of processes()) replies.readNow(directory);
	};
	const topics = openTopics(keys, options);
	const { progress } = topics;
	const stragglers = new StragglerWatch({ clock, log, progress });
	const ledger = openLedger(keys, options, stragglers);
	const readers = openReaders(options, processes, ledger);
	const node: WatchedNode = {
		clock,
		log,
		nodeId,
		cwd: config.command.cwd,
		logDirectory: options.logDirectory,
		processes,
		progress: () => readers.progress(),
	};
	const onHung = (process: NodeProcess, hung: HungWorker) =>
		options.dispatch(hungInput(process, hung, clock.now()));
	const hangs = openHangWatch(options, readers, { ...node, topics, onHung });
	const steps = new StepWatch({
		clock,
		nodeId,
		readers,
		processes,
		readReports,
		progress,
		straggler: (running) => stragglers.look(running),
		ledger,
		judge: hangs,
		onLook,
	});
	const why = new WhyWatch({
		...node,
		store,
		asked: keys.asked,
		answers: topics.answers,
		round: () => steps.place,
	});
	const stuck = openStuckWatch(options, readers, node);
	const { exitMs } = config.steps;
	const stepOf = (localRank: number) => steps.stepOf(localRank);
	const exits = new ExitWatch({ ...node, exitMs, stepOf, onHung });
	options.cleanups.add("closing the watch on steps", () => {
		for (const watch of [stuck, exits, why, steps]) watch.close();
		void ledger.close();
	});
	const follow = (state: AgentState) => {
		for (const watch of [hangs, steps, stuck, exits]) watch.follow(state);
	};
	return { steps, stuck, ledger, follow };
}

function openReaders(
	{ clock, config, log, onStep }: OpenStepsOptions,
	processes: () => readonly NodeProcess[],
	ledger: Pick<RoundLedger, "stepped" | "announced">,
): WorkerReaders {
	return new WorkerReaders({
		clock,
		pattern: config.steps.pattern,
		processes,
		onStep: (directory, steps) => {
			ledger.stepped(directory, steps);
			const process = processes().find((one) => one.directory === directory);
			if (process) onStep(process.pid, steps.source);
		},
		onPhase: (directory, told, at) => ledger.announced(directory, told, at),
		onLossGone: ({ rank }, { name, last }) =>
			log.warn(
				`rank ${rank} reports a ${name} that is no number (${last} before): it trains on, and what it saves may be of no use`,
			),
	});
}

function openStuckWatch(
	{ config, replies, dispatch }: OpenStepsOptions,
	readers: WorkerReaders,
	node: WatchedNode,
): StuckWatch {
	return new StuckWatch({
		...node,
		stuckMs: config.steps.stuckMs,
		busyUntil: (process) => {
			replies.readNow(process.directory);
			return readers.of(process).busyUntil;
		},
		onStuck: ({ localRank, pid }) =>
			dispatch({ kind: "worker-stuck", localRank, pid }),
	});
}

function openHangWatch(
	{ clock, config, resources, onHang }: OpenStepsOptions,
	readers: WorkerReaders,
	node: Omit<HangInquiryOptions, "steps">,
): HangWatch {
	const { steps } = config;
	const { processes, log } = node;
	return new HangWatch({
		clock,
		log,
		limits: steps,
		processes,
		readers,
		lostSteps: new LostSteps({ clock, ...resources }),
		inquiry: new HangInquiry({ ...node, steps }),
		readOomKills,
		onHang,
	});
}

/** Adds what rules and the report want to know of the process. One that has raised an exception may have said more. */
export function hungInput(
	{ localRank, pid, startedAt, logs }: NodeProcess,
	hung: HungWorker,
	now: number,
): AgentInput {
	const error =
		hung.cause === "crash" && logs
			? readErrorFile(join(logs.directory, "error.json"))
			: undefined;
	const stderr = logs?.stderr;
	const lines =
		stderr &&
		lastLines(stderr.file, { from: stderr.startBytes, count: RULE_LINES });
	return {
		kind: "worker-hung",
		...hung,
		localRank,
		pid,
		uptimeMs: Math.round(now - (startedAt ?? now)),
		error,
		lastLines: error ? undefined : lines?.join("\n"),
	};
}

function openTopics(keys: RunKeys, options: OpenStepsOptions) {
	return {
		progress: openTopic(PROGRESS, keys.progress, options),
		evidence: openTopic(EVIDENCE, keys.evidence, options),
		answers: openTopic(EVIDENCE, keys.answers, options),
	};
}

function openTopic<Record extends { readonly version: 1 }>(
	shape: Shape<Record>,
	prefix: string,
	{ store, membership, config }: OpenStepsOptions,
): Topic<Record> {
	return {
		publish: async (record) => {
			const lease = membership.lease?.id;
			if (lease === undefined) return;
			const put = prefix + config.nodeId;
			const write = { put, value: encodeRecord(record), lease };
			await store.transaction([], [write]).catch(() => {});
		},
		read: async () => {
			const snapshot = await store.snapshot([prefix]).catch(() => undefined);
			if (snapshot === undefined) return undefined;
			const found = new Map<string, Record>();
			for (const key of snapshot.entries.keys()) {
				const record = informationAt(shape, snapshot, key, () => {});
				if (record) found.set(key.slice(prefix.length), record);
			}
			return found;
		},
	};
}

/** The ledger of this node, kept in the store without a lease. It only informs people: what the store does not take is lost. */
export function openLedger(
	keys: RunKeys,
	options: Pick<OpenStepsOptions, "clock" | "arrivedAt" | "starts"> & {
		readonly config: Pick<AgentConfig, "nodeId">;
		readonly store: Pick<Store, "snapshot" | "transaction">;
	},
	stragglers: Pick<StragglerWatch, "lostMsIn">,
): RoundLedger {
	const { clock, store, config, arrivedAt, starts } = options;
	const write: RoundLedgerOptions["write"] = async (record) => {
		const put = keys.ledgerOf(record.round, record.nodeId);
		const value = encodeRecord(record);
		await store.transaction([], [{ put, value }]).catch(() => {});
	};
	const readFurthest: RoundLedgerOptions["readFurthest"] = async (
		instance,
		round,
	) => {
		const rounds = [round, Math.max(1, round - 1)];
		const selectors = rounds.map((one) => keys.ledgerOfRound(one));
		const snapshot = await store.snapshot(selectors).catch(() => undefined);
		if (snapshot === undefined) return null;
		const records = ledgerRecords(keys, snapshot, () => {});
		return furthestOfAll(records.filter((one) => one.instance === instance));
	};
	const forgetBefore = async (round: number) => {
		if (round <= KEPT_ROUNDS) return;
		const prefix = keys.ledgerOfRound(round - KEPT_ROUNDS);
		const snapshot = await store.snapshot([prefix]).catch(() => undefined);
		const old = [...(snapshot?.entries.keys() ?? [])];
		for (let from = 0; from < old.length; from += BATCH_SIZE) {
			const batch = old.slice(from, from + BATCH_SIZE);
			const writes = batch.map((key) => ({ delete: key }));
			await store.transaction([], writes).catch(() => {});
		}
	};
	const ledger = new RoundLedger({
		clock,
		nodeId: config.nodeId,
		arrivedAt,
		starts,
		write,
		readFurthest,
		forgetBefore,
		stragglerMs: (round) => stragglers.lostMsIn(round),
	});
	if (starts !== undefined) starts.onChange = ledger.startsChanged;
	return ledger;
}
