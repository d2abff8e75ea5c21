import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { CODE, NO_ANSWER, type Status, StatusError } from "./errors.js";

/** How long to wait for answers, in milliseconds. */
export interface AnswerTime {
	/** On a connection that has received something. */
	readonly withinMs: number;
	/** On a connected one that has received nothing yet: the handshake takes several round trips. */
	readonly firstWithinMs: number;
}

/** The default time to live of leases, in milliseconds. */
const USUAL_TTL_MS = 5_000;
const SHORTEST_MS = 1_000;
/** A server that takes longer counts as dead, however long leases live. */
const LONGEST_MS = 5_000;
/** The fractions of a lease's time to live that answers may take. */
const CALL_PART = 1 / 5;
const KEEPALIVE_PART = 1 / 6;
const FIRST_PART = 2 / 5;

/** The time for calls. A longer lease means a slower store, or more time to wait for it. */
export function callTime(leaseTtlMs = USUAL_TTL_MS): AnswerTime {
	const part = leaseTtlMs * CALL_PART;
	const withinMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, part));
	return { withinMs, firstWithinMs: 2 * withinMs };
}

/**
 * The time for a lease's keepalives. An unanswered one is given up early enough for others. Sent after a fifth of the
 * time to live on a connection that has died, and again on the next one, a keepalive is answered or given up before 0.8
 * of that time, when an agent stops relying on its lease.
 */
export function keepaliveTime(ttlMs: number): AnswerTime {
	return {
		withinMs: ttlMs * KEEPALIVE_PART,
		firstWithinMs: ttlMs * FIRST_PART,
	};
}

/** A timer that fires later than this, in milliseconds, shows that the process was busy or frozen. */
const LATE_MS = 50;
/** How long to wait then for pending input to be read. */
const GRACE_MS = 100;

/**
 * Calls `missed` if what was expected by `at` has not come. Timers fire before sockets are read: if the process itself
 * was late, the answer may be there already, so it waits a little longer. Returns a function that cancels it.
 */
export function expectBy(
	clock: Clock,
	at: number,
	missed: () => void,
): () => void {
	let cancel = clock.wakeAt(at, () => {
		const now = clock.now();
		if (now - at <= LATE_MS) missed();
		else cancel = clock.wakeAt(now + GRACE_MS, missed);
	});
	return () => cancel();
}

/** The state of a connection that determines how long its answers may take. */
interface Greeting {
	/** When a message was last received. */
	readonly heardAt: number;
	/** Whether the server has accepted it. */
	readonly isReached: boolean;
}

/**
 * Calls `missed` with the time waited if an answer to what is sent now does not come in time. Returns a function that
 * cancels it.
 */
export function expectAnswer(
	clock: Clock,
	connection: Greeting,
	{ withinMs, firstWithinMs }: AnswerTime,
	missed: (waitedMs: number) => void,
): () => void {
	const sentAt = clock.now();
	const isNew = connection.heardAt === Number.NEGATIVE_INFINITY;
	let cancel = expectBy(clock, sentAt + withinMs, () => {
		// Another try may be accepted if this one was lost on the way.
		if (!isNew || !connection.isReached) missed(withinMs);
		else {
			const miss = () => missed(firstWithinMs);
			cancel = expectBy(clock, sentAt + firstWithinMs, miss);
		}
	});
	return () => cancel();
}

export type OnEnd = (status: Status) => void;

/** etcd3's object for a stream. */
export interface Duplex<Request, Answer> {
	write(request: Request): void;
	end(): void;
	cancel(): void;
	on(event: "data", listener: (answer: Answer) => void): unknown;
	on(event: "error", listener: (error: Error) => void): unknown;
}

export interface EtcdStream<Request> {
	write(request: Request): void;
	/** Stops all its events. */
	close(): void;
}

export interface StreamHandlers<Answer> {
	readonly onAnswer: (answer: Answer) => void;
	/** Called once, as the last event. */
	readonly onEnd: OnEnd;
}

/** The calls and streams of one connection, which can all be ended from here. */
export class PendingCalls {
	private readonly ends = new Set<OnEnd>();
	private over: Status | undefined;

	constructor(
		private readonly clock: Clock,
		private readonly connection: Greeting,
	) {}

	/**
	 * Settles when the call does, has ended otherwise, or its time is over.
	 * @param start starts the call, and reports how it ended
	 * @throws StatusError
	 */
	call<Answer>(
		start: (onEnd: OnEnd) => Promise<Answer>,
		time: AnswerTime,
	): Promise<Answer> {
		if (this.over) return Promise.reject(new StatusError(this.over));
		return new Promise((resolve, reject) => {
			const end = (status: Status) => {
				if (status.code === CODE.ok) return;
				forget();
				reject(new StatusError(status));
			};
			const cancelDeadline = expectAnswer(
				this.clock,
				this.connection,
				time,
				(waitedMs) =>
					end({
						code: CODE.deadlineExceeded,
						details: `${NO_ANSWER} within ${waitedMs / 1_000} s`,
					}),
			);
			const forget = () => {
				cancelDeadline();
				this.ends.delete(end);
			};
			this.ends.add(end);
			start(end).then(
				(answer) => {
					forget();
					resolve(answer);
				},
				(error) => end(withoutStatus(error)),
			);
		});
	}

	/** Opens a stream. What is written before it is open is sent then. */
	stream<Request, Answer>(
		start: (onEnd: OnEnd) => Promise<Duplex<Request, Answer>>,
		{ onAnswer, onEnd }: StreamHandlers<Answer>,
	): EtcdStream<Request> {
		let duplex: Duplex<Request, Answer> | undefined;
		let early: Request[] = [];
		const isOpen = () => this.ends.has(end);
		const close = () => {
			this.ends.delete(end);
			// Without an end first, etcd3 takes the cancellation for a failure of the server.
			duplex?.end();
			duplex?.cancel();
		};
		const end = (status: Status) => {
			if (!isOpen()) return;
			close();
			onEnd(status);
		};
		this.ends.add(end);
		start(end).then(
			(started) => {
				duplex = started;
				// The error was already reported as a status.
				started.on("error", () => {});
				started.on("data", (answer) => {
					if (isOpen()) onAnswer(answer);
				});
				if (!isOpen()) close();
				else for (const request of early) started.write(request);
				early = [];
			},
			(error) => end(withoutStatus(error)),
		);
		return {
			write: (request) => {
				if (!isOpen()) return;
				if (duplex === undefined) early.push(request);
				else duplex.write(request);
			},
			close,
		};
	}

	/** Ends all calls and streams, and each later one. */
	endAll(status: Status): void {
		this.over = status;
		for (const end of [...this.ends]) end(status);
	}
}

/** It failed before gRPC took it. */
function withoutStatus(error: unknown): Status {
	return { code: CODE.unavailable, details: messageOf(error) };
}
