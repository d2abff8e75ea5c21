import type { Socket } from "node:net";
import { messageOf } from "../base/errors.js";
import { FrameReader, frame } from "./frames.js";

/** The connection to a peer that does not read is closed once so many bytes wait to be sent. */
const MOST_QUEUED = 1_048_576;
/** How long to wait for the peer to close its side too, in milliseconds. */
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
		const { socket } = this;
		if (socket.writableLength > MOST_QUEUED) {
			this.close("it does not read what it is sent");
		} else if (socket.writable) {
			// Messages sent in one turn go out in one write: there may be thousands.
			if (socket.writableCorked === 0) {
				socket.cork();
				process.nextTick(() => socket.uncork());
			}
			socket.write(frame(message));
		}
	}

	/** Closes it once the other end has read what was sent: with unread input it would be reset. Keeps no process alive. */
	end(): void {
		this.read(() => {});
		this.socket.unref();
		this.socket.setTimeout(LINGER_MS, () => this.socket.destroy());
		this.socket.end();
	}

	close(why = ""): void {
		this.why ||= why;
		// What was sent before may tell the peer why.
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
