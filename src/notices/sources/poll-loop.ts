import { type Clock, onBeat } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { SourceContext } from "./source.js";

/** After so many failures in a row a source is asked only so often. */
const PATIENT_FAILURES = 10;
const PATIENT_MS = 10_000;

export interface PollOptions extends Pick<SourceContext, "clock" | "log"> {
	/** Named in the one line about a look that failed: "AWS". */
	readonly name: string;
	/** From the end of a look to the next one, in milliseconds. */
	readonly everyMs: number;
	/** Rejects with the reason in words. */
	readonly look: () => Promise<void>;
}

/** Looks again and again, one look at a time, until it is closed. A failure is said once, and its end once. */
export class PollLoop {
	private readonly clock: Clock;
	private isClosed = false;
	private failures = 0;
	private said: "nothing" | "failure" | "end" = "nothing";
	private cancel: () => void = () => {};

	constructor(private readonly options: PollOptions) {
		this.clock = options.clock;
	}

	start(): void {
		void this.turn();
	}

	close(): void {
		this.isClosed = true;
		this.cancel();
	}

	private async turn(): Promise<void> {
		try {
			await this.options.look();
			if (this.isClosed) return;
			this.sayEnd();
			this.failures = 0;
		} catch (error) {
			if (this.isClosed) return;
			this.failures += 1;
			this.sayFailure(messageOf(error));
		}
		const { everyMs } = this.options;
		const delayMs = this.failures < PATIENT_FAILURES ? everyMs : PATIENT_MS;
		const at = onBeat(this.clock.now() + delayMs, delayMs);
		this.cancel = this.clock.wakeAt(at, () => void this.turn());
	}

	private sayFailure(problem: string): void {
		if (this.said !== "nothing") return;
		this.said = "failure";
		this.options.log.warn(
			`notices of ${this.options.name} cannot be read now, and are asked for again: ${problem}`,
		);
	}

	private sayEnd(): void {
		if (this.said !== "failure" || this.failures === 0) return;
		this.said = "end";
		this.options.log.info(`notices of ${this.options.name} can be read again`);
	}
}
