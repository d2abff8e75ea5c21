import type { Clock } from "../../../base/clock.js";
import { messageOf } from "../../../base/errors.js";
import type { AnswerTime } from "./answer-times.js";
import { expectAnswer, type Greeting } from "./deadline.js";
import { CODE, NO_ANSWER, type Status, StatusError } from "./status.js";

/** Call it with how the operation ended. */
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
