import type { Cleanups } from "../../base/cleanups.js";
import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/agent-config.js";
import type { StartSource } from "../../model/start.js";
import type { StepSource } from "../../model/step.js";
import type { Membership } from "../../rendezvous/member/membership.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import { encodeRecord } from "../../rendezvous/records/record-codec.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { AgentInput } from "../machine/inputs.js";
import type { AgentState } from "../machine/state.js";
import type { NodeResources, Replies } from "../workers/node-resources.js";
import type { WorkerGroup } from "../workers/worker-group.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import { ExitWatch, type ExitWatchOptions } from "./exit-watch.js";
import { HangInquiry } from "./hang-inquiry.js";
import { openLedger } from "./open-ledger.js";
import type { RoundLedger } from "./round-ledger.js";
import { StepRoom } from "./step-room.js";
import { StepWatch } from "./step-watch.js";
import type { StepWatchOptions } from "./step-watch-options.js";
import { StragglerWatch } from "./straggler-watch.js";
import { StuckWatch, type StuckWatchOptions } from "./stuck-watch.js";
import { WhyWatch } from "./why-watch.js";

export interface OpenStepsOptions {
	readonly clock: Clock;
	readonly log: Logger;
	readonly cleanups: Cleanups;
	readonly config: AgentConfig;
	/** This node's log directory. */
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
	readonly onHang: StepWatchOptions["onHang"];
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
export function openSteps({
	workers,
	replies,
	membership,
	cleanups,
	resources,
	...options
}: OpenStepsOptions): OpenSteps {
	const { config } = options;
	const { nodeId } = config;
	const keys = new RunKeys(config.runId);
	const processes = () => workers.processes;
	const { store } = options;
	/** What only informs people may be lost. */
	const write = async (put: string, value: string) => {
		const lease = membership.lease?.id;
		if (lease === undefined) return;
		await store.transaction([], [{ put, value, lease }]).catch(() => {});
	};
	const readReports = () => {
		for (const { directory } of processes()) replies.readNow(directory);
	};
	const inquiry = new HangInquiry({
		...options,
		processes,
		write,
	});
	const stragglers = new StragglerWatch({ ...options, keys });
	const stragglerMs = stragglers.lostMsIn.bind(stragglers);
	const ledger = openLedger({ ...options, keys, nodeId, stragglerMs });
	const { starts } = options;
	if (starts !== undefined) starts.onChange = ledger.startsChanged;
	const steps = new StepWatch({
		...{ ...options, processes, readReports },
		ledger: telling(ledger, processes, options.onStep),
		publish: (record) =>
			void write(keys.progressOf(nodeId), encodeRecord(record)),
		straggler: (state) => stragglers.look(state),
		room: new StepRoom({ ...options, ...resources }),
		onStill: (...asked) => inquiry.inquire(...asked),
	});
	const why = new WhyWatch({
		...{ ...options, keys, nodeId, write, processes },
		cwd: config.command.cwd,
		round: () => steps.place,
		progress: () => steps.progress(),
	});
	const { stuck, exits } = watchEnds({ ...options, processes, steps });
	cleanups.add("closing the watch on steps", () => {
		for (const watch of [stuck, exits, why, steps]) watch.close();
		void ledger.close();
	});
	const follow = (state: AgentState) => {
		for (const watch of [steps, stuck, exits]) watch.follow(state);
	};
	return { steps, stuck, ledger, follow };
}

/** Follows workers that should end. */
function watchEnds(
	options: Omit<StuckWatchOptions, "progress"> &
		Omit<ExitWatchOptions, "stepOf"> & { readonly steps: StepWatch },
): { readonly stuck: StuckWatch; readonly exits: ExitWatch } {
	const { steps } = options;
	const progress = () => steps.progress();
	const stepOf = (localRank: number) => steps.stepOf(localRank);
	return {
		stuck: new StuckWatch({ ...options, progress }),
		exits: new ExitWatch({ ...options, stepOf }),
	};
}

/** A ledger that also tells whose step it hears of. */
function telling(
	ledger: StepWatchOptions["ledger"],
	processes: StepWatchOptions["processes"],
	tell: OpenStepsOptions["onStep"],
): StepWatchOptions["ledger"] {
	return {
		follow: (state) => ledger.follow(state),
		announced: (...said) => ledger.announced(...said),
		stepped: (directory, steps) => {
			ledger.stepped(directory, steps);
			const isIt = (one: WorkerProcess) => one.directory === directory;
			const process = processes().find(isIt);
			if (process !== undefined) tell(process.pid, steps.source);
		},
	};
}
