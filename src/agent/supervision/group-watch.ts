import type { Clock } from "../../clock.js";
import { GroupCensus, outlivesLeader } from "./process-group.js";

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/** Told at each look at a group whether a process of it lives; `false` is the last one. */
export type GroupListener = (alive: boolean) => void;

interface WatchedGroup {
	readonly listener: GroupListener;
	/** A process of the group that was alive at the last look. */
	member: number | undefined;
}

/**
 * Waits until process groups whose leaders have been reaped are empty. Nobody but
 * the parent of a process is told of its end, so the groups are looked at again
 * and again, all of them at once: that costs the same for one as for a hundred.
 */
export class GroupWatch {
	readonly #clock: Clock;
	readonly #groups = new Map<number, WatchedGroup>();
	#delayMs = 0;
	#cancelLook: (() => void) | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Calls `listener` at once where the group is empty, else soon and then again and again. */
	watch(groupId: number, listener: GroupListener): void {
		if (!outlivesLeader(groupId)) {
			listener(false);
			return;
		}
		this.#groups.set(groupId, { listener, member: undefined });
		this.#lookIn(0);
	}

	#lookIn(delayMs: number): void {
		this.#cancelLook?.();
		this.#delayMs = delayMs;
		this.#cancelLook = this.#clock.wakeAt(this.#clock.now() + delayMs, () =>
			this.#look(),
		);
	}

	#look(): void {
		this.#cancelLook = undefined;
		const census = new GroupCensus();
		const looked = [...this.#groups];
		for (const [groupId, group] of looked) {
			group.member = census.livingMember(groupId, group.member);
			if (group.member === undefined) this.#groups.delete(groupId);
		}
		if (this.#groups.size > 0) {
			const doubled = Math.max(FIRST_DELAY_MS, this.#delayMs * 2);
			this.#lookIn(Math.min(LONGEST_DELAY_MS, doubled));
		}
		// Last: a listener may begin another watch.
		for (const [, { listener, member }] of looked)
			listener(member !== undefined);
	}
}
