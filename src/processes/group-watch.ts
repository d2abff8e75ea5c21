import type { Clock } from "../base/clock.js";
import { GroupCensus, outlivesLeader } from "./process-group.js";

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/** Called at each look with whether a process of the group lives; `false` is the last call. */
export type GroupListener = (alive: boolean) => void;

interface WatchedGroup {
	readonly listener: GroupListener;
	/** A process of the group that was alive at the last look. */
	member: number | undefined;
}

/**
 * Waits until process groups whose leaders were reaped are empty. Only a parent learns of a process's end, so all groups
 * are polled together: that costs the same for one as for a hundred.
 */
export class GroupWatch {
	private readonly clock: Clock;
	private readonly groups = new Map<number, WatchedGroup>();
	private delayMs = 0;
	private cancelLook: (() => void) | undefined;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** Calls `listener` at once if the group is empty, else soon and then repeatedly. */
	watch(groupId: number, listener: GroupListener): void {
		if (!outlivesLeader(groupId)) {
			listener(false);
			return;
		}
		this.groups.set(groupId, { listener, member: undefined });
		this.lookIn(0);
	}

	private lookIn(delayMs: number): void {
		this.cancelLook?.();
		this.delayMs = delayMs;
		this.cancelLook = this.clock.wakeAt(this.clock.now() + delayMs, () =>
			this.look(),
		);
	}

	private look(): void {
		this.cancelLook = undefined;
		const census = new GroupCensus();
		const looked = [...this.groups];
		for (const [groupId, group] of looked) {
			group.member = census.livingMember(groupId, group.member);
			if (group.member === undefined) this.groups.delete(groupId);
		}
		if (this.groups.size > 0) {
			const doubled = Math.max(FIRST_DELAY_MS, this.delayMs * 2);
			this.lookIn(Math.min(LONGEST_DELAY_MS, doubled));
		}
		// Last, because a listener may start another watch.
		for (const [, { listener, member }] of looked)
			listener(member !== undefined);
	}
}
