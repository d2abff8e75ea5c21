import type { Socket } from "node:net";
import type { Clock } from "../base/clock.js";
import { type Answer, words } from "./answer.js";

/** How long a connection may take to send its request, in milliseconds. */
const ASKS_WITHIN_MS = 3_000;
/** How long a connection may take to send its request and read the answer, in milliseconds. */
const CONNECTION_MS = 10_000;
/** The most connections with a request other than a probe. */
const MOST_REQUESTS = 64;
/** The same per address. Browsers of one machine, or behind one proxy, share an address. */
const MOST_REQUESTS_OF_ONE = 48;
/** The most connections per address without a request yet. */
const MOST_SILENT_OF_ONE = 16;
/** Includes room for probes. */
const MOST_CONNECTIONS = MOST_REQUESTS + 16;

type State = "silent" | "probe" | "request";

interface Connection {
	readonly address: string;
	state: State;
}

/**
 * The connections of a small server. It always accepts a new connection while another has not sent its request: the
 * oldest of these is closed. So slow clients block nobody, not even clients at their own address.
 */
export class Connections {
	/** Oldest first. */
	private readonly open = new Map<Socket, Connection>();

	/** @param clock its timers must let the process end */
	constructor(private readonly clock: Clock) {}

	/** Accepts a connection, or closes it if there is no room. */
	admit(socket: Socket): void {
		socket.unref();
		const address = socket.remoteAddress ?? "";
		if (this.count("silent", address) >= MOST_SILENT_OF_ONE) {
			this.closeSilent(address);
		}
		if (this.open.size >= MOST_CONNECTIONS && !this.closeSilent()) {
			socket.destroy();
			return;
		}
		const connection: Connection = { address, state: "silent" };
		this.open.set(socket, connection);
		const cancels = [
			this.wakeIn(ASKS_WITHIN_MS, () => {
				if (connection.state === "silent") socket.destroy();
			}),
			this.wakeIn(CONNECTION_MS, () => socket.destroy()),
		];
		socket.once("close", () => {
			this.open.delete(socket);
			for (const cancel of cancels) cancel();
		});
	}

	/** Call it when a connection has sent its request. Returns why it is refused; undefined if there is room. */
	refusalOf(socket: Socket, isProbe: boolean): Answer | undefined {
		const connection = this.open.get(socket);
		if (connection === undefined) return undefined;
		connection.state = "probe";
		if (isProbe) return undefined;
		if (this.count("request") >= MOST_REQUESTS) {
			return busy(`${MOST_REQUESTS} requests are being answered`);
		}
		if (this.count("request", connection.address) >= MOST_REQUESTS_OF_ONE) {
			return busy(
				`${MOST_REQUESTS_OF_ONE} requests of this address are being answered`,
			);
		}
		connection.state = "request";
		return undefined;
	}

	private wakeIn(ms: number, wake: () => void): () => void {
		return this.clock.wakeAt(this.clock.now() + ms, wake);
	}

	private count(state: State, address?: string): number {
		let count = 0;
		for (const connection of this.open.values()) {
			if (isOf(connection, state, address)) count++;
		}
		return count;
	}

	/** Closes the oldest connection without a request. Returns false if there is none. */
	private closeSilent(address?: string): boolean {
		for (const [socket, connection] of this.open) {
			if (!isOf(connection, "silent", address)) continue;
			this.open.delete(socket);
			socket.destroy();
			return true;
		}
		return false;
	}
}

function isOf(connection: Connection, state: State, address?: string): boolean {
	return (
		connection.state === state &&
		(address === undefined || connection.address === address)
	);
}

function busy(why: string): Answer {
	return words(503, `too busy: ${why}; ask again in a second`, {
		"Retry-After": "1",
	});
}
