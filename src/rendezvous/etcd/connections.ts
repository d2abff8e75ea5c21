import type { Clock } from "../../clock.js";
import { ElasticRunError } from "../../errors.js";
import { backOffMs } from "../back-off.js";
import type { EtcdClient } from "./etcd-client.js";
import { CODE } from "./status.js";

/** From this many failures on, streams are tried again at the same pace: a lease must not lapse meanwhile. */
const MOST_FAILURES = 4;

export interface Traffic {
	/** TCP connections that were opened. */
	readonly connections: number;
	readonly bytesRead: number;
	readonly bytesWritten: number;
}

export interface ConnectionsOptions {
	readonly endpoints: readonly string[];
	readonly connect: (endpoint: string) => EtcdClient;
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
}

/**
 * The one connection that a store has at a time. Calls, keepalives and watches
 * share it, so that none of them can be deaf while another thrives; when one
 * finds it bad, all go over to a new one, at the next endpoint.
 */
export class Connections {
	private client: EtcdClient | undefined;
	/** Where the present connection goes, or the next one. */
	private place: number;
	private closed = false;
	private past: Traffic = { connections: 0, bytesRead: 0, bytesWritten: 0 };

	constructor(private readonly options: ConnectionsOptions) {
		// Not all agents ask the same member.
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

	/** Ends what is under way over this connection; what comes next goes over another. */
	giveUp(client: EtcdClient, why: string): void {
		if (client !== this.client) return;
		this.place = (this.place + 1) % this.size;
		this.leave(client, `the connection was given up: ${why}`);
	}

	/**
	 * How long to wait before a stream is opened again, in milliseconds.
	 * @param failures how often in a row it has ended without an answer, from 1
	 */
	pauseMs(failures: number): number {
		const { random } = this.options;
		return backOffMs(Math.min(failures, MOST_FAILURES), random());
	}

	get traffic(): Traffic {
		return this.client ? sum(this.past, this.client) : this.past;
	}

	close(): void {
		this.closed = true;
		if (this.client) this.leave(this.client, "this store was closed");
	}

	private leave(client: EtcdClient, details: string): void {
		this.client = undefined;
		this.past = sum(this.past, client);
		client.close({ code: CODE.cancelled, details });
	}
}

function sum(past: Traffic, { sockets }: EtcdClient): Traffic {
	return {
		connections: past.connections + sockets.opened,
		bytesRead: past.bytesRead + sockets.bytesRead,
		bytesWritten: past.bytesWritten + sockets.bytesWritten,
	};
}
