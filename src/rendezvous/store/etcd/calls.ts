import { HopelessStoreError } from "../../../base/back-off.js";
import type { Clock } from "../../../base/clock.js";
import { ElasticRunError } from "../../../base/errors.js";
import type { AnswerTime } from "./answer-times.js";
import { type Failure, failureOf } from "./call-error.js";
import type { Connections } from "./connections.js";
import type { CallSettings, EtcdClient } from "./etcd-client.js";
import type { Login } from "./login.js";
import { type Status, StatusError } from "./status.js";

export interface CallsOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	readonly login: Login;
	readonly time: AnswerTime;
}

/** How one endpoint failed. */
interface Attempt extends Failure {
	readonly endpoint: string;
}

/**
 * Makes calls, each within a time limit. A call that was certainly not made is tried once at each endpoint. Anything else
 * is for the caller to retry, because only the caller knows whether it may be made twice.
 */
export class Calls {
	/** The newest failure of each endpoint since the store last answered. */
	private readonly failures = new Map<string, Attempt>();

	constructor(private readonly options: CallsOptions) {}

	/**
	 * @param call makes the call, once per try
	 * @throws ElasticRunError STORE_UNREACHABLE that names each endpoint that failed since the last answer, with its reason;
	 * the call may have been made all the same
	 * @throws LeaseEnded
	 */
	async make<Answer>(
		call: (client: EtcdClient, settings: CallSettings) => Promise<Answer>,
	): Promise<Answer> {
		const { connections, login, clock, time } = this.options;
		const attempts: Attempt[] = [];
		let isTokenNew = false;
		for (;;) {
			const client = connections.current;
			const sentAt = clock.now();
			let token: string | undefined;
			try {
				token = await login.token(client);
				const answer = await call(client, { time, token });
				this.failures.clear();
				return answer;
			} catch (error) {
				if (!(error instanceof StatusError)) throw error;
				const failure = this.judge(client, error.status, sentAt);
				if (failure.kind === "lease") throw new LeaseEnded();
				if (failure.kind === "token" && login.isRenewable && !isTokenNew) {
					isTokenNew = true;
					login.forget(token);
					continue;
				}
				const attempt = { ...failure, endpoint: client.endpoint };
				attempts.push(attempt);
				this.failures.set(attempt.endpoint, attempt);
				if (!isUndone(failure) || attempts.length === connections.size) {
					throw this.errorOf(attempts, error);
				}
			}
		}
	}

	/**
	 * The token for a stream.
	 * @throws ElasticRunError as `make` does
	 */
	async token(): Promise<string | undefined> {
		const { known } = this.options.login;
		return known ? known.token : this.make(async (_, { token }) => token);
	}

	/** Tells all failures since the last answer; whether trying again can help, this call alone shows. */
	private errorOf(attempts: readonly Attempt[], cause: unknown): Error {
		const words = Array.from(
			this.failures.values(),
			({ endpoint, words }) => `etcd at ${endpoint}: ${words}`,
		);
		const message = `the store cannot be used: ${words.join("; ")}`;
		return attempts.every(({ isHopeless }) => isHopeless)
			? new HopelessStoreError(message, { cause })
			: new ElasticRunError("STORE_UNREACHABLE", message, { cause });
	}

	/** The meaning of a status. Gives up a connection that the status shows to be bad. */
	judge(client: EtcdClient, status: Status, sentAt: number): Failure {
		const { connections } = this.options;
		const failure = failureOf(status);
		const isOver =
			failure.kind === "unconnected" ||
			failure.kind === "broken" ||
			(failure.kind === "silent" && client.heardAt < sentAt) ||
			(isElsewhereBetter(failure) && connections.size > 1);
		if (isOver) connections.giveUp(client, failure.words);
		return failure;
	}
}

/** A write or a revocation names a lease that has ended. */
export class LeaseEnded extends Error {}

/** Whether the call was certainly not made. */
function isUndone({ kind }: Failure): boolean {
	return kind === "unconnected" || kind === "leaderless";
}

function isElsewhereBetter({ kind }: Failure): boolean {
	return kind === "leaderless" || kind === "busy";
}
