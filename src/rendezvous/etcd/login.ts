import type { EtcdClient } from "./etcd-client.js";
import { StatusError } from "./status.js";

/** etcd computes a hash that is slow on purpose, for many agents at once after its restart; in milliseconds. */
const LOGIN_WITHIN_MS = 5_000;

export interface Credentials {
	readonly username: string;
	readonly password: string;
}

/** Absent within: etcd asks for none. */
interface Known {
	readonly token: string | undefined;
}

/** The token that goes with each call. It is every member's, and lives until etcd forgets it. */
export class Login {
	private present: Known | undefined;
	private asking: Promise<Known> | undefined;

	constructor(private readonly credentials: Credentials | undefined) {
		if (credentials === undefined) this.present = { token: undefined };
	}

	/** Undefined where etcd has to be asked first. */
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

	/** etcd does not take this token any more. */
	forget(token: string | undefined): void {
		if (this.isRenewable && this.present?.token === token) {
			this.present = undefined;
		}
	}

	private async ask(client: EtcdClient): Promise<Known> {
		if (this.credentials === undefined) return { token: undefined };
		try {
			return await client.authenticate(this.credentials, LOGIN_WITHIN_MS);
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
