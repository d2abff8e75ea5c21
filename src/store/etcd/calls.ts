import { backOffMs, HopelessStoreError } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import type { RenewedCredentials } from "./credentials.js";
import {
	CODE,
	type Failure,
	failureOf,
	type Status,
	StatusError,
} from "./errors.js";
import type { EtcdClient } from "./etcd-client.js";

/** Without a token: etcd requires none. */
interface Known {
	readonly token: string | undefined;
}

/** The token that goes with each call. All members accept it, until etcd forgets it. */
export class Login {
	/** Whether etcd can be asked for another token. */
	readonly isRenewable: boolean;
	private present: Known | undefined;
	private asking: Promise<Known> | undefined;

	/** @param onUnasked called when etcd lets everyone in */
	constructor(
		private readonly credentials: Partial<Pick<RenewedCredentials, "login">>,
		private readonly onUnasked = () => {},
	) {
		this.isRenewable = credentials.login !== undefined;
		if (!this.isRenewable) this.present = { token: undefined };
	}

	/** Undefined if etcd must be asked first. */
	get known(): Known | undefined {
		return this.present;
	}

	/** @throws StatusError */
	async token(client: EtcdClient): Promise<string | undefined> {
		if (this.present === undefined) {
			this.asking ??= this.ask(client);
			this.present = await this.asking;
		}
		return this.present.token;
	}

	/** Call it when etcd no longer accepts this token. */
	forget(token: string | undefined): void {
		if (this.isRenewable && this.present?.token === token) {
			this.present = undefined;
		}
	}

	private async ask(client: EtcdClient): Promise<Known> {
		const { login } = this.credentials;
		if (login === undefined) return { token: undefined };
		try {
			return await client.authenticate(login);
		} catch (error) {
			if (!isWithoutAuthentication(error)) throw error;
			this.onUnasked();
			return { token: undefined };
		} finally {
			this.asking = undefined;
		}
	}
}

function isWithoutAuthentication(error: unknown): boolean {
	return (
		error instanceof StatusError &&
		error.status.details.includes("authentication is not enabled")
	);
}

/** After this many failures the interval between tries of a stream stays the same: a lease must not expire meanwhile. */
const MOST_FAILURES = 4;

/** The pauses before a stream is opened again. */
export class StreamPauses {
	/** How often in a row a stream has ended without an answer. */
	private failures = 0;
	private cancelTimer: (() => void) | undefined;

	constructor(
		private readonly options: Pick<ConnectionsOptions, "clock" | "random">,
	) {}

	/** Whether one lasts. */
	get isOn(): boolean {
		return this.cancelTimer !== undefined;
	}

	/** The stream has ended: `reopen` is called after the pause. */
	begin(reopen: () => void): void {
		const { clock, random } = this.options;
		this.failures += 1;
		const failures = Math.min(this.failures, MOST_FAILURES);
		const at = clock.now() + backOffMs(failures, random());
		this.cancelTimer = clock.wakeAt(at, () => {
			this.cancelTimer = undefined;
			reopen();
		});
	}

	/** The stream has answered: the next pause is short again. */
	forgetFailures(): void {
		this.failures = 0;
	}

	cancel(): void {
		this.cancelTimer?.();
		this.cancelTimer = undefined;
	}
}

interface ConnectionsOptions {
	readonly endpoints: readonly string[];
	readonly connect: (endpoint: string) => EtcdClient;
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
}

/**
 * The single connection of a store. Calls, keepalives and watches share it, so that none can hang while another works. If
 * one finds it bad, all move to a new one, at the next endpoint.
 */
export class Connections {
	private client: EtcdClient | undefined;
	/** The endpoint of the present or next connection. */
	private place: number;
	private closed = false;
	/** How many TCP connections earlier clients have opened. */
	private past = 0;

	constructor(private readonly options: ConnectionsOptions) {
		// Agents spread over the members.
		this.place = Math.floor(options.random() * options.endpoints.length);
	}

	get size(): number {
		return this.options.endpoints.length;
	}

	/** @throws ElasticRunError STORE_UNREACHABLE after `close` */
	get current(): EtcdClient {
		if (this.closed) {
			throw new ElasticRunError("STORE_UNREACHABLE", "this store was closed");
		}
		const { endpoints, connect } = this.options;
		this.client ??= connect(endpoints[this.place] ?? "");
		return this.client;
	}

	/** Ends everything on this connection; later calls use another one. */
	giveUp(client: EtcdClient, why: string): void {
		if (client !== this.client) return;
		this.place = (this.place + 1) % this.size;
		this.leave(client, `the connection was given up: ${why}`);
	}

	pauses(): StreamPauses {
		return new StreamPauses(this.options);
	}

	/** The number of TCP connections opened so far. */
	get opened(): number {
		return this.past + (this.client?.sockets.opened ?? 0);
	}

	close(): void {
		this.closed = true;
		if (this.client) this.leave(this.client, "this store was closed");
	}

	private leave(client: EtcdClient, details: string): void {
		this.client = undefined;
		this.past += client.sockets.opened;
		client.close({ code: CODE.cancelled, details });
	}
}

interface CallsOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	readonly login: Login;
}

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
		call: (client: EtcdClient, token: string | undefined) => Promise<Answer>,
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
				const answer = await call(client, token);
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
		return known ? known.token : this.make(async (_, token) => token);
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
