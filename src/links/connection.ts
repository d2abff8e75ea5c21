import type { Socket } from "node:net";
import { messageOf } from "../base/errors.js";
import { FrameReader, frame } from "./frames.js";

/** A peer that does not read is left once so many bytes wait for it. */
const MOST_QUEUED = 1_048_576;
/** How long a peer may take to hang up too, in milliseconds. */
const LINGER_MS = 1_000;
/** A guard's connection carries nothing for hours: this keeps it alive, and tells that its other end is gone. */
const KEEP_ALIVE_MS = 15_000;

/** One TCP connection that carries messages. */
export class Connection {
	private readonly reader = new FrameReader();
	private take: (value: unknown) => void = () => {};
	private why = "";

	/** @param onClosed called once, with what ended it: words, or nothing if the other end did */
	constructor(
		readonly socket: Socket,
		onClosed: (why: string) => void,
	) {
		socket.setNoDelay(true);
		socket.setKeepAlive(true, KEEP_ALIVE_MS);
		socket.on("data", (bytes: Buffer) => {
			this.orClose(() => {
				for (const value of this.reader.push(bytes)) this.take(value);
			});
		});
		socket.on("error", (error) => this.close(messageOf(error)));
		socket.once("close", () => onClosed(this.why));
	}

	/** Passes further messages here. What it throws ends the connection. */
	read(take: (value: unknown) => void): void {
		this.take = take;
	}

	send(message: unknown): void {
		if (this.socket.writableLength > MOST_QUEUED) {
			this.close("it does not read what it is sent");
		} else if (this.socket.writable) {
			if (this.socket.writableCorked === 0) this.cork();
			this.socket.write(frame(message));
		}
	}

	/** What is said at once goes by one write: there may be thousands of messages. */
	private cork(): void {
		const { socket } = this;
		socket.cork();
		process.nextTick(() => socket.uncork());
	}

	/**
	 * Ends it after what was sent, once the other end has read it: what that one has sent and nobody reads would take it
	 * away. A peer that does not read keeps no process alive.
	 */
	end(): void {
		this.read(() => {});
		this.socket.unref();
		this.socket.setTimeout(LINGER_MS, () => this.socket.destroy());
		this.socket.end();
	}

	close(why = ""): void {
		this.why ||= why;
		// What was said before may tell why.
		if (this.socket.writableCorked > 0) this.socket.uncork();
		this.socket.destroy();
	}

	private orClose(act: () => void): void {
		try {
			act();
		} catch (error) {
			this.close(messageOf(error));
		}
	}
}
