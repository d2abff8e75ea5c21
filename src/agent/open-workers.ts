import type { WorkerChannel } from "../channel/worker-channel.js";
import { readOomKills } from "../processes/index.js";
import type { Membership } from "../rendezvous/member/membership.js";
import type { AgentObserver } from "./agent-observer.js";
import { describeStart } from "./joining/describe-start.js";
import type { NodeConfig } from "./joining/enter-run.js";
import type { AgentInput } from "./machine/inputs.js";
import type {
	LauncherIo,
	NodeResources,
	Replies,
} from "./workers/node-resources.js";
import { prepareWorker } from "./workers/prepare-worker.js";
import type { PortReservation } from "./workers/reserve-port.js";
import { WorkerGroup } from "./workers/worker-group.js";

export interface OpenWorkersOptions {
	readonly config: NodeConfig;
	readonly place: LauncherIo;
	/** Names this process. */
	readonly incarnation: string;
	readonly membership: Pick<Membership, "holdsLease">;
	readonly ports: Pick<PortReservation, "prepare" | "release">;
	readonly observer: AgentObserver | undefined;
	readonly resources: NodeResources;
	readonly replies: Replies;
	readonly dispatch: (input: AgentInput) => void;
}

/** The node's workers, round after round. The first are spawned when a round has a seat for the node. */
export function openWorkers(options: OpenWorkersOptions): WorkerGroup {
	const { config, place, ports, observer, incarnation } = options;
	const { membership, resources, replies } = options;
	const logs = observer?.noting(resources.logs) ?? resources.logs;
	// Channels are removed while the next round's workers run, so that no restart waits for it.
	const discarded: WorkerChannel[] = [];
	return new WorkerGroup({
		...{ ...place, ...resources, readOomKills },
		runId: config.runId,
		noticeSignal: config.noticeSignal,
		holdsLease: () => membership.holdsLease(),
		prepare: (info, round) =>
			prepareWorker(info, round, {
				...{ ...resources, ...place, logs },
				...{ config, incarnation },
				replies,
				discardChannel: (channel) => discarded.push(channel),
			}),
		onSpawning: () => ports.release(),
		onChannels: () => {
			resources.channels.installDoorbells();
			replies.listen();
		},
		onStarted: (round, workers, kept) => {
			const pids = workers.flatMap(({ pid }) => pid ?? []);
			const firstRank = workers[0]?.rank ?? 0;
			const about = { round: round.synced, pids, firstRank };
			const words = place.standIn
				? `round ${round.synced} has begun: the barrier is down`
				: describeStart(round, pids.length, kept);
			place.log.info(words, about);
			ports.prepare();
			for (const channel of discarded.splice(0)) void channel.removeAside();
		},
		dispatch: (input) => {
			if (input.kind === "worker-exited") resources.logSpace.look();
			options.dispatch(input);
		},
	});
}
