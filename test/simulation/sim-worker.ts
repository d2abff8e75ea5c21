import type { WorkerReply } from "../../src/channel/events.js";
import type {
	WorkerHandle,
	WorkerListener,
} from "../../src/processes/worker.js";
import type { SimChannel } from "./sim-channel.js";
import { type Listening, SimListener } from "./sim-listener.js";
import type { SimMachine, WorkerHabits } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";
import { roundsOf, type WorkerHistory } from "./worker-history.js";

/** The longest from SIGKILL to the end of a process. */
const SLOWEST_KILL_MS = 20;
/** The longest from an obeyed SIGTERM to the end of a process. */
const SLOWEST_END_MS = 800;
/** The shortest for which the kernel holds a process that sticks: its agent has given it up by then. */
const SHORTEST_STUCK_MS = 20_000;
/** The longest that one has still to do whose end was due while it was paused. */
const LONGEST_REST_MS = 500;

/** One worker's process group: its leader, and at times a child that may outlive it. */
export class SimWorker implements WorkerHandle, Listening {
	onGone: () => void = () => {};
	private leaderLives = true;
	private childLives: boolean;
	private readonly ignoresTerm: boolean;
	private readonly sticks: boolean;
	private readonly listener: SimListener;
	private signalled = false;
	/** Its time to end came while it was paused. */
	private isDue = false;

	constructor(
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
		readonly record: WorkerHistory,
		habits: WorkerHabits,
		private readonly supervisor: WorkerListener,
		private readonly channel: SimChannel,
		first: { readonly instance: number; readonly round: number },
	) {
		const { random, timeline } = machine;
		this.listener = new SimListener(machine, process, this, first);
		channel.open(record, this.listener);
		this.childLives = random.chance(habits.leavesChild);
		this.sticks = random.chance(habits.sticks);
		this.ignoresTerm = this.sticks || random.chance(habits.ignoresTerm);
		if (random.chance(habits.hangs)) return;
		const worksMs = random.between(habits.shortestMs, habits.longestMs);
		timeline.after(worksMs, () => this.endByItself(habits.fails));
	}

	get pid(): number {
		return this.record.pid;
	}

	get isAlive(): boolean {
		return this.leaderLives && this.record.stuckAt === null;
	}

	say(reply: WorkerReply): void {
		this.channel.say(reply);
	}

	goOn(): void {
		if (!this.isDue) return;
		this.isDue = false;
		const { random, timeline, habits } = this.machine;
		timeline.after(random.between(1, LONGEST_REST_MS), () =>
			this.endByItself(habits().fails),
		);
	}

	fail(): void {
		if (this.isAlive) this.endFailing();
	}

	passOn(): boolean {
		return this.leaderLives;
	}

	signal(signal: "SIGTERM" | "SIGKILL"): void {
		const { random, timeline } = this.machine;
		// Its agent may not have heard yet that it is gone.
		if (!this.leaderLives && !this.childLives) return;
		this.signalled = true;
		this.record.signalledAt ??= timeline.now;
		if (signal === "SIGKILL") {
			const delayMs = this.sticks
				? random.between(SHORTEST_STUCK_MS, 3 * SHORTEST_STUCK_MS)
				: random.between(0, SLOWEST_KILL_MS);
			if (this.sticks) this.record.stuckAt ??= timeline.now;
			timeline.after(delayMs, () => {
				this.endLeader(null, "SIGKILL");
				this.endChild();
			});
			return;
		}
		if (this.ignoresTerm) return;
		const code = random.pick([0, 1, null]) ?? null;
		timeline.after(random.between(1, SLOWEST_END_MS), () => {
			this.endLeader(code, code === null ? "SIGTERM" : null);
			if (random.chance(0.7)) this.endChild();
		});
	}

	private endByItself(fails: number): void {
		if (!this.isAlive) return;
		const { random, timeline, habits } = this.machine;
		const { asleepUntil } = this.process;
		if (asleepUntil > timeline.now) {
			timeline.at(asleepUntil, () => this.endByItself(fails));
			return;
		}
		if (this.listener.isHeld && !random.chance(habits().endsHeld)) {
			this.isDue = true;
			return;
		}
		if (random.chance(fails)) this.endFailing();
		else this.endLeader(0, null);
	}

	private endFailing(): void {
		const { random } = this.machine;
		this.record.failed = !this.signalled;
		if (random.chance(0.5)) this.endLeader(random.integer(1, 3), null);
		else this.endLeader(null, "SIGSEGV");
	}

	private endLeader(code: number | null, signal: NodeJS.Signals | null): void {
		if (!this.leaderLives) return;
		this.leaderLives = false;
		this.record.leaderEndedAt = this.machine.timeline.now;
		this.record.succeeded = code === 0;
		this.machine.say(
			this.process.history.incarnation,
			`worker ${this.pid} (round ${roundsOf(this.record)}) ends: ${signal ?? code}`,
		);
		const exit = {
			code,
			signal,
			signalledByAgent: this.signalled,
			uptimeMs: this.machine.timeline.now - this.record.startedAt,
		};
		this.listener.end(code !== 0);
		const groupRemains = this.childLives;
		this.tell(() => this.supervisor.exited(exit, groupRemains));
		if (!groupRemains) this.goneNow();
	}

	private endChild(): void {
		if (!this.childLives) return;
		this.childLives = false;
		if (!this.leaderLives) this.goneNow();
	}

	private goneNow(): void {
		this.record.endedAt = this.machine.timeline.now;
		this.onGone();
		this.tell(() => this.supervisor.gone());
	}

	/** The order in which a process's own events reach its agent is kept. */
	private tell(arrival: () => void): void {
		this.machine.timeline.after(2, () => this.process.deliver(arrival));
	}
}
