import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { PassingError } from "../../base/back-off.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";

/** The address at which this host reaches a listener on all addresses. */
const HERE: Readonly<Record<string, string>> = {
	"::": "127.0.0.1",
	"0.0.0.0": "127.0.0.1",
};

/**
 * Systems do not give ports from here on to outgoing connections. Seconds may pass between the release of a port and rank
 * 0's listening, in which such a connection could take it.
 */
const FIRST_PORT = 10_000;
const LAST_PORT = 29_999;
/** After this many taken ports any port will do. */
const TRIES = 20;
/** Workers of an earlier round, or lingering connections to them, may still use one of the last ports. */
const NOT_AGAIN = 100;

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
 * process on this node. A new claim frees the previous port, and avoids the last hundred.
 *
 * A connection of this process with itself holds the port, not a listener: workers of a faster node would connect to a
 * listener and be cut off with it. This way they are refused, and retry until rank 0 listens. It is no lock: a process
 * that asks for this port with SO_REUSEADDR, as servers do, gets it anyway.
 */
export class PortReservation {
	private free: () => void = () => {};
	/** The port of the next claim, if it is already bound. */
	private ahead: Promise<HeldPort> | undefined;
	private isShortageTold = false;
	/** Newest last. */
	private readonly recent: number[] = [];

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
		this.ahead ??= this.hold();
		// It is tried again when it is needed.
		this.ahead.catch(() => {});
	}

	/** @throws PassingError if this machine lacks something that a port needs */
	async reserve(): Promise<number> {
		this.release();
		const { ahead } = this;
		this.ahead = undefined;
		try {
			const held = ahead?.catch(() => this.hold()) ?? this.hold();
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

	private async hold(): Promise<HeldPort> {
		const held = await holdAny(this.address, this.random, this.recent);
		this.recent.push(held.port);
		if (this.recent.length > NOT_AGAIN) this.recent.shift();
		return held;
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
		this.ahead?.then(
			({ free }) => free(),
			() => {},
		);
		this.ahead = undefined;
	}
}

interface HeldPort {
	readonly port: number;
	readonly free: () => void;
}

async function holdAny(
	address: string,
	random: () => number,
	recent: readonly number[],
): Promise<HeldPort> {
	const server = await listenOnAny(address, random, recent);
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

async function listenOnAny(
	address: string,
	random: () => number,
	recent: readonly number[],
): Promise<Server> {
	for (let tries = 0; tries < TRIES; tries += 1) {
		const port =
			FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
		if (recent.includes(port)) continue;
		try {
			return await listen(address, port);
		} catch (error) {
			if (systemErrorCode(error) !== "EADDRINUSE") break;
		}
	}
	return listenOnOther(address, recent);
}

/** Listens on a port that the system chooses. */
async function listenOnOther(
	address: string,
	recent: readonly number[],
): Promise<Server> {
	for (let tries = 1; ; tries += 1) {
		const server = await listen(address).catch(() => listen(undefined));
		const bound = server.address();
		const isRecent =
			typeof bound === "object" &&
			bound !== null &&
			recent.includes(bound.port);
		if (!isRecent || tries === TRIES) return server;
		server.close();
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

/** An address that is reachable from outside need not be bindable on this host (NAT): then it binds any. */
export function listen(host: string | undefined, port = 0): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.unref();
		server.once("error", reject);
		server.listen({ port, ...(host === undefined ? {} : { host }) }, () =>
			resolve(server),
		);
	});
}
