import type { Clock } from "../../base/clock.js";
import { within } from "../../base/within.js";
import type { FreeSpaceWatch } from "../../logs/free-space.js";
import type { StepSource } from "../../model/step.js";

/** The file system of an unreachable server answers late, and then tells nothing. */
const LOOK_WITHIN_MS = 1_000;
const NEVER = 0;

export interface StepRoomOptions {
	readonly clock: Clock;
	/** Of the workers' output, and of their reports. */
	readonly logSpace: Pick<FreeSpaceWatch, "fullAt" | "look">;
	readonly channelSpace: Pick<FreeSpaceWatch, "fullAt" | "look">;
}

/** Whether there is room for the steps that workers print and report: on a full disk they make steps that nobody sees. */
export class StepRoom {
	constructor(private readonly options: StepRoomOptions) {}

	/** Until when the steps of a worker may have been lost, on the clock; 0: never. */
	lostUntil(source: StepSource | undefined): number {
		const { logSpace, channelSpace } = this.options;
		const printed = logSpace.fullAt ?? NEVER;
		const reported = channelSpace.fullAt ?? NEVER;
		switch (source) {
			case "hook":
				// Its number has its place in the file from the beginning.
				return NEVER;
			case "report":
				return reported;
			case "output":
				return printed;
			case undefined:
				return Math.max(printed, reported);
		}
	}

	/** Looks now. Never rejects. */
	async look(): Promise<void> {
		const { clock, logSpace, channelSpace } = this.options;
		const looks = [logSpace, channelSpace].map((space) => space.look(true));
		await within(clock, LOOK_WITHIN_MS, Promise.all(looks));
	}
}
