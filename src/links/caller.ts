import { connect } from "node:net";
import { backOffMs } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import type { LinkedAgent as Agent } from "../model/index.js";
import { Connection } from "./connection.js";
import { introduce } from "./handshake.js";
import type { LinkPurpose } from "./messages.js";

interface CallerOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	readonly purpose: LinkPurpose;
	readonly self: () => Agent;
	/** The handshake is over. `lastProof` proves the word of this agent's guard. */
	readonly onOpen: (
		callee: Agent,
		connection: Connection,
		lastProof: string,
	) => void;
	/** `inOrder`: this agent has hung up. */
	readonly onClosed: (
		callee: Agent,
		connection: Connection,
		inOrder: boolean,
	) => void;
	/** A call to this agent has failed; `sinceMs`: it has had no connection for so long. */
	readonly onFailed: (callee: Agent, why: string, sinceMs: number) => void;
}

/** Keeps one connection to the agent that is wanted, as long as it is. */
export class Caller {
	private callee: Agent | undefined;
	private connection: Connection | undefined;
	/** The connection, once the handshake is over. */
	private opened: Connection | undefined;
	private failures = 0;
	/** Since when the callee has no connection. */
	private since = 0;
	private cancelCall = () => {};

	constructor(private readonly options: CallerOptions) {}

	/** Calls this agent from now on; undefined: nobody. Hangs up on another one, and tells it whether this agent leaves the run. */
	want(callee: Agent | undefined, leaves = false): void {
		if (callee?.incarnation === this.callee?.incarnation) return;
		this.cancelCall();
		this.callee = callee;
		const { connection } = this;
		this.opened?.send({ kind: "bye", leaves });
		this.connection = undefined;
		this.opened = undefined;
		connection?.end();
		this.failures = 0;
		this.since = this.options.clock.now();
		if (callee?.link !== undefined) this.call(callee);
	}

	private call(callee: Agent): void {
		const { clock, purpose, self, onOpen, onClosed, onFailed } = this.options;
		const { link } = callee;
		if (link === undefined) return;
		let isOpen = false;
		const socket = connect({ host: link.address, port: link.port });
		const connection = new Connection(socket, (why) => {
			const inOrder = this.connection !== connection;
			if (!inOrder) {
				this.connection = undefined;
				this.opened = undefined;
				if (isOpen) this.since = clock.now();
				this.callAgain(callee);
			}
			if (isOpen) onClosed(callee, connection, inOrder);
			else if (!inOrder)
				onFailed(callee, why || "it hung up", clock.now() - this.since);
		});
		this.connection = connection;
		introduce(connection, clock, link, self(), purpose, ({ lastProof }) => {
			isOpen = true;
			this.opened = connection;
			this.failures = 0;
			onOpen(callee, connection, lastProof);
		});
	}

	private callAgain(callee: Agent): void {
		const { clock, random } = this.options;
		this.failures += 1;
		const at = clock.now() + backOffMs(this.failures, random());
		this.cancelCall = clock.wakeAt(at, () => this.call(callee));
	}
}
