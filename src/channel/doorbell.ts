import { execFile } from "node:child_process";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";

const OPEN_TO_RING =
	constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Starts making doorbells and does not wait: Node cannot make a FIFO by itself. A doorbell tells a worker that there may
 * be news in its channel. Nothing is ever written into it: opening it for writing and closing it ends the stream of all
 * readers. Without it workers find the news by other means.
 */
export function installDoorbells(paths: readonly string[]): void {
	// On other systems a reader cannot tell a fresh FIFO from one that was rung.
	if (paths.length === 0 || process.platform !== "linux") return;
	execFile("mkfifo", ["-m", "600", ...paths], () => {});
}

export function ringDoorbell(path: string): void {
	try {
		closeSync(openSync(path, OPEN_TO_RING));
	} catch {
		// Nobody listens, or there is no doorbell.
	}
}

const OPEN_TO_LISTEN =
	constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Calls `onRing` whenever an agent rings (see `installDoorbells`). Does not keep the process alive. Returns undefined if
 * there is no doorbell.
 */
export function listenToDoorbell(
	path: string,
	onRing: () => void,
): { close(): void } | undefined {
	const listener = new DoorbellListener(path, onRing);
	return listener.open() ? listener : undefined;
}

class DoorbellListener {
	private socket: Socket | undefined;

	constructor(
		private readonly path: string,
		private readonly onRing: () => void,
	) {}

	/** Returns whether there is a doorbell. */
	open(): boolean {
		const fd = openFifo(this.path);
		if (fd === undefined) return false;
		const socket = new Socket({ fd, readable: true, writable: false });
		socket.on("error", () => {});
		socket.once("close", () => this.onEnd(socket));
		socket.unref();
		socket.resume();
		this.socket = socket;
		return true;
	}

	close(): void {
		const socket = this.socket;
		this.socket = undefined;
		socket?.destroy();
	}

	/** The socket ends with the first ring after it was opened; the caller finds earlier news by itself. */
	private onEnd(socket: Socket): void {
		if (socket !== this.socket) return;
		this.open();
		this.onRing();
	}
}

function openFifo(path: string): number | undefined {
	try {
		const fd = openSync(path, OPEN_TO_LISTEN);
		if (fstatSync(fd).isFIFO()) return fd;
		closeSync(fd);
	} catch {
		// No doorbell was made, or the agent has ended.
	}
	return undefined;
}
