import { backOffMs } from "../../../base/back-off.js";
import type { Clock } from "../../../base/clock.js";
import { ElasticRunError } from "../../../base/errors.js";
import type { EtcdClient } from "./etcd-client.js";
import { CODE } from "./status.js";

/** After this many failures the interval between tries of a stream stays the same: a lease must not expire meanwhile. */
const MOST_FAILURES = 4;

export interface Traffic {
	/** The number of TCP connections opened. */
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
 * The single connection of a store. Calls, keepalives and watches share it, so that none can hang while another works. If
 * one finds it bad, all move to a new one, at the next endpoint.
 */
export class Connections {
	private client: EtcdClient | undefined;
	/** The endpoint of the present or next connection. */
	private place: number;
	private closed = false;
	private past: Traffic = { connections: 0, bytesRead: 0, bytesWritten: 0 };

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
