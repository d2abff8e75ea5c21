import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
	type AddressInfo,
	createServer,
	isIPv6,
	type Server,
	type Socket,
} from "node:net";
import type { Clock } from "../base/clock.js";
import { systemErrorCode } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { LinkedAgent as Agent, LinkAddress } from "../model/index.js";
import { Caller } from "./caller.js";
import { Connection } from "./connection.js";
import { Exchange, type LinksNow, type Place, type Round } from "./exchange.js";
import { frame } from "./frames.js";
import { answer, NOT_OF_THIS_RUN } from "./handshake.js";
import { decode, type Hello, isSameProof, LINK_MESSAGE } from "./messages.js";
import type { Calls } from "./peers.js";

/** Where a machine knows no IPv6, an address of IPv4 stands for all. */
const EVERY_ADDRESS = ["::", "0.0.0.0"];
/** A call that fails for longer than this and than a lease is blocked: a dead agent would have been replaced. In milliseconds. */
const BLOCKED_AFTER_MS = 10_000;
/** How often an agent without callers looks for peers to forget, in milliseconds. */
const ALONE_MS = 1_000;
/** At most so many callers may be in their handshake. More are hung up on, so that nobody can use up all descriptors. */
const MOST_STRANGERS = 256;

export interface LinksOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	readonly log: Pick<Logger, "debug" | "info" | "warn">;
	/** Where to listen; 0: any free port. */
	readonly port: number;
	/** After so long without a sign of life an agent's lease has decided, and nobody suspects it any more. In milliseconds. */
	readonly decidedMs: number;
	/** A guard has said that this process is dead and has left no worker. */
	readonly onDead: (dead: Agent) => void;
}

/** The guard outlives its agent, and speaks for it. */
interface GuardVoice {
	/** Says this word there once the agent is dead and nothing of it is left. */
	speakThrough(line: { readonly socket: Socket; readonly word: string }): void;
}

/** An agent's connections to the other agents of its run. They carry news; the store decides. */
export class Links {
	readonly secret = randomBytes(16).toString("hex");
	/** What is said over them. */
	readonly exchange: Exchange;
	private self: Agent = { nodeId: "", incarnation: "" };
	/** The open connections of callers, and those of them that are still in their handshake. */
	private readonly accepted = new Set<Connection>();
	private readonly strangers = new Set<Connection>();
	private isClosed = false;
	private readonly uplink: Caller;
	private readonly guardLine: Caller;
	private guard: GuardVoice | undefined;
	private cancelLook = () => {};
	private lookAt: number;
	private readonly told = new Set<string>();

	private constructor(
		private readonly options: LinksOptions,
		private readonly server: Server,
	) {
		const { clock, decidedMs } = options;
		const now = () => clock.now();
		const call = (calls: Calls) => this.call(calls);
		this.exchange = new Exchange({ now, decidedMs, call });
		const about = { ...options, self: () => this.self };
		this.uplink = new Caller({
			...about,
			purpose: "agent",
			onOpen: (callee, connection) => {
				connection.read((value) => {
					const message = decode(LINK_MESSAGE, value);
					this.exchange.hearCallee(callee, connection, message);
				});
				this.exchange.calleeOpened(callee, connection);
			},
			onClosed: (...closed) => this.exchange.calleeClosed(...closed),
			onFailed: (callee, ...why) => {
				this.tellBlocked(callee, ...why);
				this.exchange.calleeFailed(callee);
			},
		});
		this.guardLine = new Caller({
			...about,
			purpose: "guard",
			onOpen: (_, { socket }, proof) => {
				const word = frame({ kind: "gone", proof });
				this.guard?.speakThrough({ socket, word });
			},
			onClosed: () => {},
			onFailed: this.tellBlocked,
		});
		server.on("connection", (socket) => this.accept(socket));
		this.lookAt = clock.now();
		this.cancelLook = clock.wakeAt(this.lookAt, this.look);
	}

	/** Listens for other agents. @throws Error if the port cannot be had */
	static async open(options: LinksOptions): Promise<Links> {
		return new Links(options, await listen(options.port));
	}

	/** Where other agents reach this one. @param address the node's own */
	addressAt(address: string): LinkAddress {
		const bound = this.server.address();
		const { port } = bound as AddressInfo;
		return { address, port, secret: this.secret };
	}

	/** Gives this node's guard its voice. */
	guardBy(guard: GuardVoice): void {
		this.guard = guard;
	}

	/** Call it with this process, and with each view of its round. */
	follow(self: Agent, round: Round, place: Place | null): void {
		this.self = self;
		this.exchange.follow(self, round, place);
	}

	/** What is known at this moment. */
	now(): LinksNow {
		return this.exchange.state;
	}

	/** Leaves in order: nobody suspects this agent. */
	close(): void {
		this.isClosed = true;
		this.cancelLook();
		this.server.close();
		this.uplink.want(undefined, true);
		this.guardLine.want(undefined);
		this.exchange.leave();
		for (const connection of this.accepted) connection.end();
	}

	private call({ agent, guard }: Calls): void {
		if (this.isClosed) return;
		this.uplink.want(agent);
		if (this.guard) this.guardLine.want(guard);
	}

	private accept(socket: Socket): void {
		const { clock, log } = this.options;
		if (this.strangers.size >= MOST_STRANGERS) {
			socket.destroy();
			return;
		}
		const connection = new Connection(socket, (why) => {
			this.accepted.delete(connection);
			this.strangers.delete(connection);
			if (why !== "") log.debug(`a link was closed: ${why}`);
			this.exchange.callerClosed(connection);
		});
		this.accepted.add(connection);
		this.strangers.add(connection);
		answer(connection, clock, this.secret, (hello, { lastProof }) => {
			this.strangers.delete(connection);
			if (hello.purpose === "guard") {
				this.hearGuard(connection, hello, lastProof);
				return;
			}
			const { exchange } = this;
			const isFirst = !exchange.isCalled;
			connection.read((value) => {
				const message = decode(LINK_MESSAGE, value);
				exchange.hearCaller(hello, connection, message);
			});
			exchange.callerOpened(hello, connection);
			if (isFirst) this.look();
		});
	}

	/** Takes what the guard of an agent says. */
	private hearGuard(
		connection: Connection,
		{ nodeId, incarnation }: Hello,
		lastProof: string,
	): void {
		connection.read((value) => {
			const { kind, proof = "" } = decode(LINK_MESSAGE, value);
			if (kind !== "gone" || !isSameProof(proof, lastProof)) return;
			this.exchange.hearGuard({ nodeId, incarnation });
			this.options.onDead({ nodeId, incarnation });
		});
	}

	private readonly look = (): void => {
		this.cancelLook();
		const { clock } = this.options;
		const everyMs = this.exchange.look(clock.now() - this.lookAt);
		const nextMs = this.exchange.isCalled ? everyMs : ALONE_MS;
		this.lookAt = clock.now() + nextMs;
		this.cancelLook = clock.wakeAt(this.lookAt, this.look);
	};

	private readonly tellBlocked = (
		{ nodeId, incarnation, link }: Agent,
		why: string,
		sinceMs: number,
	): void => {
		if (why.endsWith(NOT_OF_THIS_RUN)) return;
		const { decidedMs, log } = this.options;
		const enoughMs = Math.max(BLOCKED_AFTER_MS, decidedMs);
		if (!link || sinceMs < enoughMs || this.told.has(incarnation)) return;
		this.told.add(incarnation);
		const { address, port } = link;
		const host = isIPv6(address) ? `[${address}]` : address;
		log.warn(
			`${nodeId} cannot be called at ${host}:${port} (${why}). If it runs, let that port through (--rdzv-conf link_port=PORT makes it a fixed one), or give --links off: else, if a launcher is killed, the others learn of it only when its lease ends`,
		);
	};
}

async function listen(port: number): Promise<Server> {
	const [first = "", ...others] = EVERY_ADDRESS;
	return listenAt(first, port).catch((error) => {
		const [second] = others;
		const hasIpv6 = !["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(
			systemErrorCode(error) ?? "",
		);
		if (hasIpv6 || second === undefined) throw error;
		return listenAt(second, port);
	});
}

async function listenAt(host: string, port: number): Promise<Server> {
	const server = createServer();
	server.listen({ host, port });
	await once(server, "listening");
	// An error of one connection is that connection's.
	server.on("error", () => {});
	return server;
}
