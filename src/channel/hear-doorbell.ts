import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";

const OPEN_TO_HEAR =
	constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Calls `onRing` whenever an agent has rung: see `installDoorbells`. It does not keep
 * the process alive. Undefined where there is no doorbell.
 */
export function hearDoorbell(
	path: string,
	onRing: () => void,
): { close(): void } | undefined {
	const hearing = new Hearing(path, onRing);
	return hearing.open() ? hearing : undefined;
}

class Hearing {
	readonly #path: string;
	readonly #onRing: () => void;
	#socket: Socket | undefined;

	constructor(path: string, onRing: () => void) {
		this.#path = path;
		this.#onRing = onRing;
	}

	/** Returns whether there is something to hear. */
	open(): boolean {
		const fd = openFifo(this.#path);
		if (fd === undefined) return false;
		const socket = new Socket({ fd, readable: true, writable: false });
		socket.on("error", () => {});
		socket.once("close", () => this.#heard(socket));
		socket.unref();
		socket.resume();
		this.#socket = socket;
		return true;
	}

	close(): void {
		const socket = this.#socket;
		this.#socket = undefined;
		socket?.destroy();
	}

	/** What is rung after the opening is heard by it; what was before, is found by the look. */
	#heard(socket: Socket): void {
		if (socket !== this.#socket) return;
		this.open();
		this.#onRing();
	}
}

function openFifo(path: string): number | undefined {
	try {
		const fd = openSync(path, OPEN_TO_HEAR);
		if (fstatSync(fd).isFIFO()) return fd;
		closeSync(fd);
	} catch {
		// None was made, or the agent has ended.
	}
	return undefined;
}
