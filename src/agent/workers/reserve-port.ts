import { createHash } from "node:crypto";
import { PassingError } from "../../base/back-off.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import { type HeldPort, holdOneOf } from "./hold-port.js";

/**
 * Systems do not give ports from here on to outgoing connections. Seconds may pass between the release of a port and rank
 * 0's listening, in which such a connection could take it.
 */
const FIRST_PORT = 10_000;
/**
 * Each claim of a node has a group of ports, and the next claim the next group: workers of an earlier round, or lingering
 * connections to them, may still use its port. No memory of ports would outlive the agent.
 */
const GROUPS = 125;
const GROUP_SIZE = 160;

/** What a machine may lack for a moment, and what helps if that lasts. */
const SHORTAGES: ReadonlyMap<string, string> = new Map([
	["EMFILE", "raise ulimit -n"],
	["ENFILE", "raise fs.file-max"],
	["EADDRINUSE", "free some of this machine's ports"],
	["ENOBUFS", "free some of this machine's memory"],
	["ENOMEM", "free some of this machine's memory"],
]);

/**
 * Finds a port for MASTER_PORT and keeps it bound until the workers start, so that the system gives it to no other
 * process on this node. A new claim frees the previous port. A node's port does not come back within a hundred rounds of the
 * run, even if its agent is started again, unless all ports of a claim's group are taken.
 */
export class PortReservation {
	private free: () => void = () => {};
	private newest: Claim | undefined;
	/** The port of the next claim, if it is already bound. */
	private ahead: Ahead | undefined;
	private isShortageTold = false;

	/**
	 * @param address the local address that workers will bind
	 * @param random a number in [0, 1): launchers of one machine must not try the same ports
	 * @param warn called once with why there is no port, until there is one again
	 */
	constructor(
		private readonly address: string,
		private readonly random: () => number,
		private readonly warn: (message: string) => void,
	) {}

	/** Binds the port of the next claim early: a claim is urgent. */
	prepare(): void {
		if (this.newest === undefined || this.ahead !== undefined) return;
		const claim = { ...this.newest, round: this.newest.round + 1 };
		this.ahead = { round: claim.round, held: this.hold(claim) };
		// It is tried again when it is needed.
		this.ahead.held.catch(() => {});
	}

	/** @throws PassingError if this machine lacks something that a port needs */
	async reserve(claim: Claim): Promise<number> {
		this.release();
		this.newest = claim;
		const { ahead } = this;
		if (ahead?.round !== claim.round) this.releaseAhead();
		this.ahead = undefined;
		try {
			const held =
				ahead?.round === claim.round
					? ahead.held.catch(() => this.hold(claim))
					: this.hold(claim);
			const { port, free } = await held;
			this.free = free;
			this.isShortageTold = false;
			return port;
		} catch (error) {
			throw this.asShortage(error) ?? error;
		}
	}

	/** Frees the port of the newest claim. */
	release(): void {
		this.free();
		this.free = () => {};
	}

	private hold(claim: Claim): Promise<HeldPort> {
		return holdOneOf(this.address, portsOf(claim, this.random()));
	}

	private releaseAhead(): void {
		this.ahead?.held.then(
			({ free }) => free(),
			() => {},
		);
		this.ahead = undefined;
	}

	/** If the launcher ended because of this, its workers would end, and the run's other nodes would restart. */
	private asShortage(cause: unknown): PassingError | undefined {
		const remedy = SHORTAGES.get(systemErrorCode(cause) ?? "");
		if (remedy === undefined) return undefined;
		const message = `no port can be bound for MASTER_PORT, which is tried again: ${messageOf(cause)}; if it lasts, ${remedy}`;
		if (!this.isShortageTold) this.warn(message);
		this.isShortageTold = true;
		return new PassingError(message, { cause });
	}

	/** Ends all claims: also frees the port bound for the next one. */
	close(): void {
		this.release();
		this.releaseAhead();
	}
}

interface Claim {
	/** Its run, the run's start and its id: few nodes of one machine try the same ports in the same round. */
	readonly node: string;
	readonly round: number;
}

interface Ahead {
	readonly round: number;
	readonly held: Promise<HeldPort>;
}

/** The ports of the claim's group, from one on that chance names. */
function* portsOf({ node, round }: Claim, chance: number): Generator<number> {
	const first = createHash("sha256").update(node).digest().readUInt32BE();
	const group = FIRST_PORT + ((first + round) % GROUPS) * GROUP_SIZE;
	const start = Math.floor(chance * GROUP_SIZE);
	for (let step = 0; step < GROUP_SIZE; step += 1) {
		yield group + ((start + step) % GROUP_SIZE);
	}
}
