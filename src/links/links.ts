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
import type {
	LinkedAgent as Agent,
	LinkAddress,
	RecordWrite,
	RecordWritten,
	RideMessage,
} from "../model/index.js";
import { Caller } from "./caller.js";
import { Connection } from "./connection.js";
import { frame } from "./frames.js";
import { answer } from "./handshake.js";
import { decode, type Hello, isSameProof, LINK_MESSAGE } from "./messages.js";
import { Peers, type Suspicion } from "./peers.js";

/** Where a machine knows no IPv6, an address of IPv4 stands for all. */
const EVERY_ADDRESS = ["::", "0.0.0.0"];
/** A dead agent is not called in vain for so long, nor for longer than its lease: another one takes its place. In milliseconds. */
const BLOCKED_AFTER_MS = 10_000;
/** How often who was called by nobody looks for peers to forget, in milliseconds. */
const ALONE_MS = 1_000;
/** So many callers may be about to introduce themselves. More are told to come again, so that nobody takes all descriptors. */
const MOST_STRANGERS = 256;

export interface LinksOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	readonly log: Pick<Logger, "debug" | "info" | "warn">;
	/** Where to listen; 0: any free port. */
	readonly port: number;
	/** How long an agent's lease decides at most, in milliseconds: then nobody suspects it any more. */
	readonly decidedMs: number;
	/** A guard has said that this process is dead and has left no worker. */
	readonly onDead: (dead: Agent) => void;
}

/** What outlives an agent, and speaks for it. */
interface GuardVoice {
	/** Says this word there once the agent is dead and nothing of it is left. */
	speakThrough(line: { readonly socket: Socket; readonly word: string }): void;
}

/** What a node knows of the run's other agents by its links. */
export interface LinksNow {
	/** The nodes that are heard. */
	readonly heard: readonly string[];
	readonly suspected: readonly Suspicion[];
}

/** An agent's connections to the other agents of its run. They carry news; the store decides. */
export class Links {
	readonly secret = randomBytes(16).toString("hex");
	private self: Agent = { nodeId: "", incarnation: "" };
	private head: Agent | undefined;
	private readonly peers: Peers;
	/** The newest connection of each agent that has called, by incarnation. */
	private readonly callers = new Map<string, Connection>();
	/** All that were accepted and live; of them, those that have not introduced themselves. */
	private readonly accepted = new Set<Connection>();
	private readonly strangers = new Set<Connection>();
	private isClosed = false;
	private readonly uplink: Caller;
	private readonly guardLine: Caller;
	private guard: GuardVoice | undefined;
	/**
	 * The plan whose head this agent is, and the agents that were linked with it since, have not left and are not known to be
	 * dead: without their word nobody works on without the store. That another process has a node's id says nothing of the
	 * first one.
	 */
	private plan: string | undefined;
	private readonly knownAgents = new Set<string>();
	private heardPlan: { plan: string; since: number } | undefined;
	private hearRide: (from: string, message: RideMessage) => void = () => {};
	private hearWrite: (from: Agent, write: RecordWrite) => void = () => {};
	private hearWritten: (written: RecordWritten | undefined) => void = () => {};
	private cancelPing = () => {};
	private readonly told = new Set<string>();

	private constructor(
		private readonly options: LinksOptions,
		private readonly server: Server,
	) {
		const { clock, decidedMs } = options;
		this.peers = new Peers(decidedMs);
		const about = { ...options, self: () => this.self };
		this.uplink = new Caller({
			...about,
			purpose: "agent",
			onOpen: (callee, connection) => {
				this.hear(connection, callee, () =>
					this.peers.left(callee.incarnation),
				);
				this.opened(callee);
			},
			onClosed: ({ incarnation }, inOrder) => {
				this.hearWritten(undefined);
				this.closed(incarnation, inOrder);
			},
			onFailed: this.tellBlocked,
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
		this.cancelPing = clock.wakeAt(clock.now(), this.ping);
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

	/** Call it with this process and the head of each round. */
	follow(self: Agent, head: Agent | undefined): void {
		this.self = self;
		// The head that it had forgets it.
		if (head?.incarnation !== this.head?.incarnation)
			this.heardPlan = undefined;
		this.head = head;
		this.call();
	}

	tellHead(ride: RideMessage): void {
		this.uplink.send({ kind: "ride", ride });
	}

	tell(incarnation: string, ride: RideMessage): void {
		this.callers.get(incarnation)?.send({ kind: "ride", ride });
	}

	begin(plan: string): void {
		this.plan = plan;
		for (const incarnation of this.knownAgents) {
			if (!this.callers.has(incarnation)) this.knownAgents.delete(incarnation);
		}
	}

	get known(): ReadonlySet<string> {
		return new Set(this.knownAgents);
	}

	get knownFor():
		| { readonly plan: string; readonly since: number }
		| undefined {
		return this.heardPlan;
	}

	listen(hear: (from: string, message: RideMessage) => void): void {
		this.hearRide = hear;
	}

	askHead(write: RecordWrite): boolean {
		return this.uplink.send({ kind: "write", write });
	}

	answer(incarnation: string, written: RecordWritten): void {
		this.callers.get(incarnation)?.send({ kind: "written", written });
	}

	onRecords(
		take: (from: Agent, write: RecordWrite) => void,
		learn: (written: RecordWritten | undefined) => void,
	): void {
		this.hearWrite = take;
		this.hearWritten = learn;
	}

	/** What is known at this moment. */
	now(): LinksNow {
		const now = this.options.clock.now();
		return {
			heard: this.peers.heardNow(now),
			suspected: this.peers.suspected(now),
		};
	}

	/** Leaves in order: nobody suspects this agent. */
	close(): void {
		this.isClosed = true;
		this.cancelPing();
		this.server.close();
		this.uplink.want(undefined, true);
		this.guardLine.want(undefined);
		for (const connection of this.callers.values()) {
			connection.send({ kind: "bye", leaves: true });
		}
		for (const connection of this.accepted) connection.end();
	}

	private opened(agent: Agent): void {
		this.peers.opened(agent, this.options.clock.now());
		this.call();
	}

	private closed(incarnation: string, inOrder: boolean): void {
		this.peers.closed(incarnation, this.options.clock.now(), inOrder);
		this.call();
	}

	private call(): void {
		if (this.isClosed) return;
		const { incarnation } = this.self;
		const calls = this.peers.calls(incarnation, this.head);
		this.uplink.want(calls.agent);
		if (this.guard) this.guardLine.want(calls.guard);
	}

	private accept(socket: Socket): void {
		const { clock, log } = this.options;
		if (this.strangers.size >= MOST_STRANGERS) {
			socket.destroy();
			return;
		}
		let caller: Hello | undefined;
		const connection = new Connection(socket, (why) => {
			this.accepted.delete(connection);
			this.strangers.delete(connection);
			if (why !== "") log.debug(`a link was closed: ${why}`);
			if (caller && this.callers.get(caller.incarnation) === connection) {
				this.callers.delete(caller.incarnation);
				this.closed(caller.incarnation, false);
			}
		});
		this.accepted.add(connection);
		this.strangers.add(connection);
		answer(connection, clock, this.secret, (hello, { lastProof }) => {
			this.strangers.delete(connection);
			caller = hello;
			if (hello.purpose === "guard") {
				this.hearGuard(connection, hello, lastProof);
			} else {
				this.knownAgents.add(hello.incarnation);
				const before = this.callers.get(hello.incarnation);
				const isFirst = this.callers.size === 0;
				this.callers.set(hello.incarnation, connection);
				before?.close("the same agent has called again");
				this.hear(connection, hello);
				this.opened(hello);
				if (isFirst) this.ping();
			}
		});
	}

	/** Takes what an agent says. */
	private hear(connection: Connection, agent: Agent, onBye = () => {}): void {
		const { incarnation } = agent;
		connection.read((value) => {
			const message = decode(LINK_MESSAGE, value);
			const { kind, everyMs, plan, leaves, ride, write, written } = message;
			if (kind === "ping") {
				this.peers.heard(incarnation, this.options.clock.now(), everyMs);
				if (everyMs === undefined) return;
				if (plan !== undefined && plan !== this.heardPlan?.plan) {
					this.heardPlan = { plan, since: this.options.clock.now() };
				}
				connection.send({ kind: "ping" });
			} else if (kind === "bye") {
				// Who has another head may count on it that nobody rides without its word.
				if (leaves) this.knownAgents.delete(incarnation);
				onBye();
				this.closed(incarnation, true);
			} else if (kind === "ride") {
				if (ride) this.hearRide(incarnation, ride);
			} else if (kind === "write") {
				if (write) this.hearWrite(agent, write);
			} else if (kind === "written") {
				const isHead = incarnation === this.head?.incarnation;
				if (written && isHead) this.hearWritten(written);
			} else throw new Error("only a guard knows that an agent is gone");
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
			this.knownAgents.delete(incarnation);
			this.options.onDead({ nodeId, incarnation });
		});
	}

	/** Asks for a sign of life, and gives one. */
	private readonly ping = (): void => {
		this.cancelPing();
		const { clock } = this.options;
		const { everyMs } = this.peers;
		const now = clock.now();
		for (const agent of this.peers.forget(now)) {
			this.callers.get(agent.incarnation)?.close("it was silent for too long");
			this.uplink.renew(agent);
		}
		for (const connection of this.callers.values()) {
			connection.send({ kind: "ping", everyMs, plan: this.plan });
		}
		const nextMs = this.callers.size > 0 ? everyMs : ALONE_MS;
		this.cancelPing = clock.wakeAt(now + nextMs, this.ping);
	};

	private readonly tellBlocked = (
		{ nodeId, incarnation, link }: Agent,
		why: string,
		sinceMs: number,
	): void => {
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
