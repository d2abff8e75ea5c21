import { onBeat } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Notice, NoticeListener } from "../../model/index.js";
import type {
	OpenSource,
	PolledValue,
	Reading,
	SourceContext,
} from "./source.js";

/** After so many failures in a row a source is polled only so often. */
const PATIENT_FAILURES = 10;
const PATIENT_MS = 10_000;

/**
 * Polls one value, one poll at a time, and notifies the listener of what has changed. A failure is logged once, and its end
 * once.
 */
export class Poller implements OpenSource {
	private readonly changes: Changes;
	private isClosed = false;
	private failures = 0;
	private logged: "nothing" | "failure" | "end" = "nothing";
	private cancel: () => void = () => {};

	constructor(
		private readonly value: PolledValue,
		private readonly context: SourceContext,
	) {
		this.changes = new Changes(value, context.listener);
		void this.turn();
	}

	close(): void {
		this.isClosed = true;
		this.cancel();
	}

	private async turn(): Promise<void> {
		const { value, context } = this;
		try {
			const reading = await value.poll();
			if (this.isClosed || reading === "over") return;
			if (reading !== "unchanged") this.changes.update(reading);
			this.logEnd();
			this.failures = 0;
		} catch (error) {
			if (this.isClosed) return;
			this.failures += 1;
			this.logFailure(messageOf(error));
		}
		const delayMs =
			this.failures < PATIENT_FAILURES ? value.everyMs : PATIENT_MS;
		const at = onBeat(context.clock.now() + delayMs, delayMs);
		this.cancel = context.clock.wakeAt(at, () => void this.turn());
	}

	private logFailure(problem: string): void {
		if (this.logged !== "nothing") return;
		this.logged = "failure";
		this.context.log.warn(
			`notices of ${this.value.name} cannot be read now, and are asked for again: ${problem}`,
		);
	}

	private logEnd(): void {
		if (this.logged !== "failure") return;
		this.logged = "end";
		this.context.log.info(`notices of ${this.value.name} can be read again`);
	}
}

/** Notifies a listener only of what has changed. */
export class Changes {
	private noticed: Notice | undefined;
	private advised = new Map<string, Notice>();

	constructor(
		private readonly from: Pick<PolledValue, "source" | "origin" | "withdrawn">,
		private readonly listener: NoticeListener,
	) {}

	update({ notice, advice = [] }: Reading): void {
		const { source, origin, withdrawn } = this.from;
		const before = this.noticed;
		this.noticed = notice;
		if (notice === undefined) {
			if (before !== undefined) {
				this.listener.withdrawn({ source, origin }, withdrawn);
			}
		} else if (!isSame(notice, before)) {
			this.listener.noticed({ ...notice, source, origin });
		}
		this.updateAdvice(advice);
	}

	/**
	 * Each recommendation once, and that it is gone. It is no notice of this origin: if both hold, neither replaces the
	 * other.
	 */
	private updateAdvice(advice: readonly Notice[]): void {
		const { source, withdrawn } = this.from;
		const before = this.advised;
		this.advised = new Map(advice.map((one) => [this.originOf(one), one]));
		for (const [origin, one] of this.advised) {
			if (!before.has(origin)) this.listener.advised({ ...one, origin });
		}
		for (const origin of before.keys()) {
			if (this.advised.has(origin)) continue;
			this.listener.withdrawn({ source, origin }, withdrawn);
		}
	}

	private originOf({ reason, deadline }: Notice): string {
		return `${this.from.origin ?? ""} advice ${deadline}: ${reason}`;
	}
}

function isSame(one: Notice, other: Notice | undefined): boolean {
	return one.reason === other?.reason && one.deadline === other.deadline;
}
