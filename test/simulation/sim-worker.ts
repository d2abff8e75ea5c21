import type {
	WorkerHandle,
	WorkerListener,
} from "../../src/agent/supervision/worker.js";
import type { WorkerHistory } from "./history.js";
import type { SimMachine, WorkerHabits } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";

/** The longest from SIGKILL to the end of a process. */
const SLOWEST_KILL_MS = 20;
/** The longest from an obeyed SIGTERM to the end of a process. */
const SLOWEST_END_MS = 800;
/** The shortest for which the kernel holds a process that sticks: its agent has given it up by then. */
const SHORTEST_STUCK_MS = 20_000;

/** One worker's process group: its leader, and at times a child that may outlive it. */
export class SimWorker implements WorkerHandle {
	onGone: () => void = () => {};
	private leaderLives = true;
	private childLives: boolean;
	private readonly ignoresTerm: boolean;
	private readonly sticks: boolean;
	private signalled = false;

	constructor(
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
		private readonly record: WorkerHistory,
		habits: WorkerHabits,
		private readonly listener: WorkerListener,
	) {
		const { random, timeline } = machine;
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

	fail(): void {
		if (this.leaderLives && this.record.stuckAt === null) this.endFailing();
	}

	signal(signal: "SIGTERM" | "SIGKILL"): void {
		const { random, timeline } = this.machine;
		// Its agent may not have heard yet that it is gone.
		if (!this.leaderLives && !this.childLives) return;
		this.signalled = true;
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
		if (!this.leaderLives || this.record.stuckAt !== null) return;
		const { random, timeline } = this.machine;
		const { asleepUntil } = this.process;
		if (asleepUntil > timeline.now) {
			timeline.at(asleepUntil, () => this.endByItself(fails));
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
			`worker ${this.pid} (round ${this.record.rounds.join(" ")}) ends: ${signal ?? code}`,
		);
		const exit = {
			code,
			signal,
			sentByUs: this.signalled,
			uptimeMs: this.machine.timeline.now - this.record.startedAt,
		};
		const groupRemains = this.childLives;
		this.tell(() => this.listener.exited(exit, groupRemains));
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
		this.tell(() => this.listener.gone());
	}

	/** The order in which a process's own events reach its agent is kept. */
	private tell(arrival: () => void): void {
		this.machine.timeline.after(2, () => this.process.deliver(arrival));
	}
}
