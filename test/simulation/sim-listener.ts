import type { WorkerReply } from "../../src/channel/events.js";
import type { OutgoingEvent } from "../../src/channel/worker-channel.js";
import type { ChannelEnd } from "./sim-channel.js";
import type { SimMachine } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";

/** How long a worker may take to its first call of the runtime library, in milliseconds. */
const LATEST_HELLO_MS = 2_500;
/** How long the code of one takes until it has received an event, in milliseconds. */
const SLOWEST_STEP_MS = 100;
/** How long it takes to see that it has lost a peer, in milliseconds. */
const LATEST_LOSS_MS = 3_000;
/** When it waits for another round though it has lost nobody, in milliseconds. */
const LATEST_WISH_MS = 15_000;

/** The worker whose part this is. */
export interface Listening {
	readonly isAlive: boolean;
	/** How it says something in its channel. */
	say(reply: WorkerReply): void;
	fail(): void;
	/** It may work again. */
	goOn(): void;
}

/** What a worker does with its channel: it says HELLO, acknowledges, holds still, and waits for other rounds. */
export class SimListener implements ChannelEnd {
	/** It holds still, or waits for another round. */
	isHeld = false;
	/** The round that it has taken last. */
	private round: number;
	private instance: number;
	private readonly listens: boolean;
	private readonly acknowledges: boolean;
	/** Until when it is busy with an event that it received earlier. */
	private busyUntil = 0;

	constructor(
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
		private readonly worker: Listening,
		first: { readonly instance: number; readonly round: number },
	) {
		const { random } = machine;
		const { listens, neverAcknowledges } = machine.habits();
		this.round = first.round;
		this.instance = first.instance;
		this.listens = random.chance(listens);
		this.acknowledges = !random.chance(neverAcknowledges);
		machine.peers.enter(this.world, this);
		if (!this.listens) return;
		this.soon(LATEST_HELLO_MS, () => worker.say({ kind: "HELLO" }));
		this.mayWish();
	}

	receive({ kind, round, instance }: OutgoingEvent, sequence: number): void {
		if (!this.listens || !this.acknowledges) return;
		const { random, timeline, habits, pauseTimeoutMs } = this.machine;
		const isLate = random.chance(habits().acknowledgesLate);
		const most = isLate ? 2 * pauseTimeoutMs : SLOWEST_STEP_MS;
		this.busyUntil =
			Math.max(this.busyUntil, timeline.now) + random.between(0, most);
		this.at(this.busyUntil, () => {
			this.worker.say({ kind: "ACK", event: sequence });
			if (kind === "PAUSE") this.hold();
			else this.take(instance, round);
		});
	}

	/** A process that worked with it has ended before its time. */
	losePeer(): void {
		const { random, habits } = this.machine;
		const { round } = this;
		const { diesOfPeers, waitsForPeers } = habits();
		const dies = random.chance(diesOfPeers);
		if (!dies && !(this.listens && random.chance(waitsForPeers))) return;
		this.soon(LATEST_LOSS_MS, () => {
			if (this.round !== round || this.isHeld) return;
			if (dies) this.worker.fail();
			else this.wait();
		});
	}

	/** Its process has ended; `isLoss`: so that those that worked with it must notice. */
	end(isLoss: boolean): void {
		const { peers } = this.machine;
		peers.leave(this.world, this);
		if (isLoss) peers.tellOfLoss(this.world);
	}

	private get world(): string {
		return `${this.instance}/${this.round}`;
	}

	private hold(): void {
		this.isHeld = true;
		// One that calls waitForWork() says so; one that uses a listener does not.
		if (this.machine.random.chance(0.5)) this.sayWaiting();
	}

	private take(instance: number, round: number): void {
		this.machine.peers.leave(this.world, this);
		this.instance = instance;
		this.round = round;
		this.machine.peers.enter(this.world, this);
		this.isHeld = false;
		// One that comes to waitForWork() when its work is there says so.
		if (this.machine.random.chance(0.3)) {
			this.worker.say({ kind: "WORKING", round });
		}
		this.worker.goOn();
		this.mayWish();
	}

	private mayWish(): void {
		const { random, habits } = this.machine;
		if (!random.chance(habits().wishes)) return;
		const { round } = this;
		this.soon(LATEST_WISH_MS, () => {
			if (this.round === round && !this.isHeld) this.wait();
		});
	}

	private wait(): void {
		this.isHeld = true;
		this.sayWaiting();
	}

	private sayWaiting(): void {
		const { round } = this;
		this.worker.say({ kind: "WAITING", round, message: "waits for work" });
	}

	private soon(latestMs: number, act: () => void): void {
		const { random, timeline } = this.machine;
		this.at(timeline.now + random.between(1, latestMs), act);
	}

	/** Neither the dead act nor those whose machine sleeps. */
	private at(at: number, act: () => void): void {
		const { timeline } = this.machine;
		timeline.at(at, () => {
			if (!this.worker.isAlive) return;
			const { asleepUntil } = this.process;
			if (asleepUntil > timeline.now) this.at(asleepUntil, act);
			else act();
		});
	}
}
