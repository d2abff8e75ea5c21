import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { PassingError } from "../../base/back-off.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";

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

/** The address at which this host reaches a listener on all addresses. */
const HERE: Readonly<Record<string, string>> = {
	"::": "127.0.0.1",
	"0.0.0.0": "127.0.0.1",
};

interface HeldPort {
	readonly port: number;
	readonly free: () => void;
}

/**
 * Binds the first of these ports that is free, or one that the system chooses.
 *
 * A connection of this process with itself holds the port, not a listener: workers of a faster node would connect to a
 * listener and be cut off with it. This way they are refused, and retry until rank 0 listens. It is no lock: a process
 * that asks for this port with SO_REUSEADDR, as servers do, gets it anyway.
 */
async function holdOneOf(
	address: string,
	ports: Iterable<number>,
): Promise<HeldPort> {
	const server = await listenOnOneOf(address, ports);
	const bound = server.address();
	if (typeof bound !== "object" || bound === null) {
		return { port: 0, free: () => server.close() };
	}
	const free = await holdByConnection(server, bound).catch(
		// The fallback is to keep listening.
		() => () => server.close(),
	);
	return { port: bound.port, free };
}

async function listenOnOneOf(
	address: string,
	ports: Iterable<number>,
): Promise<Server> {
	for (const port of ports) {
		try {
			return await listenNear(address, port);
		} catch (error) {
			if (systemErrorCode(error) !== "EADDRINUSE") break;
		}
	}
	// None is free, or may be bound: the system chooses.
	return listenNear(address, 0);
}

/** An address that is reachable from outside need not be bindable on this host (NAT): then it binds any. */
async function listenNear(address: string, port: number): Promise<Server> {
	try {
		return await listen(address, port);
	} catch (error) {
		if (systemErrorCode(error) === "EADDRINUSE") throw error;
		return listen(undefined, port);
	}
}

/** Stops listening. Returns a function that frees the port at once, with no time in which it cannot be bound. */
async function holdByConnection(
	server: Server,
	{ address, port }: AddressInfo,
): Promise<() => void> {
	const near = connect({ port, host: HERE[address] ?? address });
	// Whatever happens to it, at worst the port is free a little earlier.
	near.on("error", () => {});
	const [[far]] = await Promise.race([
		Promise.all([once(server, "connection"), once(near, "connect")]),
		// A process without free descriptors accepts no connection: it is closed without an error.
		once(near, "close").then(() => {
			throw new Error("the connection was cut before it was accepted");
		}),
	]);
	server.close();
	far.on("error", () => {});
	const ends = [near.unref(), far.unref()];
	return () => {
		for (const end of ends) end.resetAndDestroy();
	};
}

function listen(host: string | undefined, port = 0): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.unref();
		server.once("error", reject);
		server.listen({ port, ...(host === undefined ? {} : { host }) }, () =>
			resolve(server),
		);
	});
}
