import type { Clock } from "../../clock.js";
import { messageOf } from "../../errors.js";
import { expectBy } from "./deadline.js";
import { CODE, NO_ANSWER, type Status, StatusError } from "./status.js";

/** To be told how what was started ended. */
export type OnEnd = (status: Status) => void;

/** What etcd3 gives for a stream. */
export interface Duplex<Request, Answer> {
	write(request: Request): void;
	end(): void;
	cancel(): void;
	on(event: "data", listener: (answer: Answer) => void): unknown;
	on(event: "error", listener: (error: Error) => void): unknown;
}

export interface EtcdStream<Request> {
	write(request: Request): void;
	/** Nothing is told of it any more. */
	close(): void;
}

export interface StreamHandlers<Answer> {
	readonly onAnswer: (answer: Answer) => void;
	/** Told once, and nothing after it. */
	readonly onEnd: OnEnd;
}

/** The calls and streams of one connection, each of which can be ended from here. */
export class Underway {
	private readonly ends = new Set<OnEnd>();
	private over: Status | undefined;

	constructor(private readonly clock: Clock) {}

	/**
	 * Settles when the call has, or has ended in another way, or `withinMs` are over.
	 * @param start starts the call, and tells how it ended
	 * @throws StatusError
	 */
	call<Answer>(
		start: (onEnd: OnEnd) => Promise<Answer>,
		withinMs: number,
	): Promise<Answer> {
		if (this.over) return Promise.reject(new StatusError(this.over));
		return new Promise((resolve, reject) => {
			const end = (status: Status) => {
				if (status.code === CODE.ok) return;
				forget();
				reject(new StatusError(status));
			};
			const cancelDeadline = expectBy(
				this.clock,
				this.clock.now() + withinMs,
				() =>
					end({
						code: CODE.deadlineExceeded,
						details: `${NO_ANSWER} within ${withinMs / 1_000} s`,
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

	/** Opens a stream; what is written before it is open is sent then. */
	stream<Request, Answer>(
		start: (onEnd: OnEnd) => Promise<Duplex<Request, Answer>>,
		{ onAnswer, onEnd }: StreamHandlers<Answer>,
	): EtcdStream<Request> {
		let duplex: Duplex<Request, Answer> | undefined;
		let early: Request[] = [];
		const isOpen = () => this.ends.has(end);
		const close = () => {
			this.ends.delete(end);
			// Without an end before it, etcd3 takes the cancelling for a failure of the server.
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
				// It has been told as a status.
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

	/** Also what would be called from now on. */
	endAll(status: Status): void {
		this.over = status;
		for (const end of [...this.ends]) end(status);
	}
}

/** It failed before gRPC took it. */
function withoutStatus(error: unknown): Status {
	return { code: CODE.unavailable, details: messageOf(error) };
}
