import type { AnswerTime } from "./answer-times.js";
import type { EtcdClient } from "./etcd-client.js";
import { StatusError } from "./status.js";

/**
 * The time for a login, in milliseconds. etcd computes a deliberately slow hash, and after its restart for many agents at
 * once.
 */
const LOGIN_MS = 5_000;
const LOGIN_TIME: AnswerTime = {
	withinMs: LOGIN_MS,
	firstWithinMs: 2 * LOGIN_MS,
};

export interface Credentials {
	readonly username: string;
	readonly password: string;
}

/** Without a token: etcd requires none. */
interface Known {
	readonly token: string | undefined;
}

/** The token that goes with each call. All members accept it, until etcd forgets it. */
export class Login {
	private present: Known | undefined;
	private asking: Promise<Known> | undefined;

	constructor(private readonly credentials: Credentials | undefined) {
		if (credentials === undefined) this.present = { token: undefined };
	}

	/** Undefined if etcd must be asked first. */
	get known(): Known | undefined {
		return this.present;
	}

	/** Whether etcd can be asked for another token. */
	get isRenewable(): boolean {
		return this.credentials !== undefined;
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
		if (this.credentials === undefined) return { token: undefined };
		try {
			return await client.authenticate(this.credentials, LOGIN_TIME);
		} catch (error) {
			if (isWithoutAuthentication(error)) return { token: undefined };
			throw error;
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
