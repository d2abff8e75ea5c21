import type { Clock } from "../../clock.js";
import { ElasticRunError } from "../../errors.js";
import { HopelessStoreError } from "../back-off.js";
import type { Connections } from "./connections.js";
import type { CallSettings, EtcdClient } from "./etcd-client.js";
import { type Failure, failureOf } from "./failure.js";
import type { Login } from "./login.js";
import { type Status, StatusError } from "./status.js";

/** How long an answer is waited for, in milliseconds. */
const ANSWER_WITHIN_MS = 1_000;

export interface CallsOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	readonly login: Login;
}

/** How one endpoint failed. */
interface Attempt extends Failure {
	readonly endpoint: string;
}

/**
 * Makes calls, each in a bounded time. What certainly was not made is tried once
 * at each endpoint; anything else is the caller's to try again, who knows whether
 * it may be made twice.
 */
export class Calls {
	constructor(private readonly options: CallsOptions) {}

	/**
	 * @param call makes the call, once each time
	 * @throws ElasticRunError STORE_UNREACHABLE that names endpoints and reasons; the call may have been made all the same
	 * @throws LeaseEnded
	 */
	async make<Answer>(
		call: (client: EtcdClient, settings: CallSettings) => Promise<Answer>,
	): Promise<Answer> {
		const { connections, login, clock } = this.options;
		const attempts: Attempt[] = [];
		let isTokenNew = false;
		for (;;) {
			const client = connections.current;
			const sentAt = clock.now();
			let token: string | undefined;
			try {
				token = await login.token(client);
				const settings = { withinMs: ANSWER_WITHIN_MS, token };
				return await call(client, settings);
			} catch (error) {
				if (!(error instanceof StatusError)) throw error;
				const failure = this.judge(client, error.status, sentAt);
				if (failure.kind === "lease") throw new LeaseEnded();
				if (failure.kind === "token" && login.isRenewable && !isTokenNew) {
					isTokenNew = true;
					login.forget(token);
					continue;
				}
				attempts.push({ ...failure, endpoint: client.endpoint });
				if (!isUndone(failure) || attempts.length === connections.size) {
					throw errorOf(attempts, error);
				}
			}
		}
	}

	/**
	 * What goes with a stream.
	 * @throws ElasticRunError as `make` does
	 */
	async token(): Promise<string | undefined> {
		const { known } = this.options.login;
		return known ? known.token : this.make(async (_, { token }) => token);
	}

	/** What a status means; a connection that it shows to be bad is given up. */
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

function errorOf(attempts: readonly Attempt[], cause: unknown): Error {
	const words = attempts.map(
		({ endpoint, words }) => `etcd at ${endpoint}: ${words}`,
	);
	const message = `the store cannot be used: ${words.join("; ")}`;
	return attempts.every(({ isHopeless }) => isHopeless)
		? new HopelessStoreError(message, { cause })
		: new ElasticRunError("STORE_UNREACHABLE", message, { cause });
}
