import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import type { Clock } from "../../base/clock.js";

const whoOpens = new AsyncLocalStorage<Sockets | undefined>();

/** Those that may open a socket now. While there are any, every promise of the process costs a little more. */
const opening = new Set<Sockets>();

/** How many turns of the event loop gRPC needs to notice that a socket has closed. */
const TURNS_UNTIL_SEEN = 4;

/** gRPC may connect once more after its back-off, also after it was closed. Longer than that takes, in milliseconds. */
const LAST_TRY_MS = 5_000;

/** Runs what a message leads to: the sockets that it opens are its own. */
export function outside(work: () => void): void {
	if (whoOpens.getStore() === undefined) work();
	else whoOpens.run(undefined, work);
}

subscribe("net.client.socket", (message) => {
	const { socket } = message as { readonly socket?: unknown };
	if (socket instanceof Socket) whoOpens.getStore()?.add(socket);
});

/**
 * The TCP sockets that other code opens for this client. gRPC does not track a socket that is still connecting, or that
 * was accepted and not used yet: it would keep the process alive until the kernel gives it up.
 */
export class Sockets {
	private readonly open = new Set<Socket>();
	private isConnected = false;
	private isClosed = false;
	/** How many there were so far. */
	opened = 0;

	/** @param clock its timers need not keep the process alive */
	constructor(private readonly clock: Pick<Clock, "now" | "wakeAt">) {}

	/** Runs work that may open a socket, now or later. */
	within<Result>(work: () => Result): Result {
		if (this.isConnected) return work();
		opening.add(this);
		return whoOpens.run(this, work);
	}

	/** A message was received: no other socket will be opened before this one closes. */
	confirm(): void {
		if (this.isConnected || this.isClosed) return;
		this.isConnected = true;
		this.rest();
	}

	/** Whether the other end has accepted one of them. */
	get isReached(): boolean {
		return [...this.open].some(({ connecting }) => !connecting);
	}

	/**
	 * Closes the open ones, and each that is opened later.
	 * @param then runs after the opener has noticed
	 */
	destroyAll(then: () => void): void {
		this.isClosed = true;
		this.isConnected = false;
		for (const socket of this.open) socket.destroy();
		// etcd3 would wait for a connection that still seems to be starting.
		afterTurns(TURNS_UNTIL_SEEN, () => {
			then();
			this.clock.wakeAt(this.clock.now() + LAST_TRY_MS, () => this.rest());
		});
	}

	/** Called with each of their sockets before it connects. */
	add(socket: Socket): void {
		this.opened += 1;
		this.open.add(socket);
		// An error without a listener would end the process, and gRPC's listeners come and go.
		socket.on("error", () => {});
		socket.once("close", () => {
			this.open.delete(socket);
			this.isConnected = false;
		});
		// The caller connects it next, which would open it again.
		if (this.isClosed) process.nextTick(() => socket.destroy());
	}

	/** No more sockets will be opened. */
	private rest(): void {
		opening.delete(this);
		if (opening.size === 0) whoOpens.disable();
	}
}

function afterTurns(turns: number, work: () => void): void {
	if (turns === 0) work();
	else setImmediate(() => afterTurns(turns - 1, work));
}
