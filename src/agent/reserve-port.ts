import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { messageOf, systemErrorCode } from "../errors.js";
import { PassingError } from "../rendezvous/back-off.js";

/** Where a listener on all addresses is reached from here. */
const HERE: Readonly<Record<string, string>> = {
	"::": "127.0.0.1",
	"0.0.0.0": "127.0.0.1",
};

/**
 * Ports that systems give to no outgoing connection by themselves: from the release of
 * a port until rank 0 listens there, seconds may pass, in which such a connection
 * could take it.
 */
const FIRST_PORT = 10_000;
const LAST_PORT = 29_999;
/** After so many that were taken, any other will do. */
const TRIES = 20;

/** Of what a machine has too little for a moment, and what helps where the moment lasts. */
const SHORTAGES: ReadonlyMap<string, string> = new Map([
	["EMFILE", "raise ulimit -n"],
	["ENFILE", "raise fs.file-max"],
	["EADDRINUSE", "free some of this machine's ports"],
	["ENOBUFS", "free some of this machine's memory"],
	["ENOMEM", "free some of this machine's memory"],
]);

/**
 * Finds a port for MASTER_PORT and keeps it bound until the workers start, so
 * that the system gives it to nobody else on this node meanwhile. A new claim
 * frees the port of the one before.
 *
 * It is kept by a connection of this process with itself, and not by a listener:
 * to that the workers of a faster node would connect, and be cut off with it. As
 * it is they are refused, and try again until rank 0 listens. It is no lock: who
 * asks for this very port with SO_REUSEADDR, as servers do, gets it all the same.
 */
export class PortReservation {
	private free: () => void = () => {};
	/** That of the next claim, where it has been bound already. */
	private ahead: Promise<HeldPort> | undefined;
	private isShortageTold = false;

	/**
	 * @param address the local address that workers will bind
	 * @param random a number in [0, 1): launchers of one machine must not try the same ports
	 * @param warn told once, until there is a port again, why there is none
	 */
	constructor(
		private readonly address: string,
		private readonly random: () => number,
		private readonly warn: (message: string) => void,
	) {}

	/** Binds the port of the next claim now: whoever claims is in a hurry. */
	prepare(): void {
		this.ahead ??= this.hold();
		// Then it is tried again when it is needed.
		this.ahead.catch(() => {});
	}

	/** @throws PassingError where this machine is short of what a port takes */
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

	private hold(): Promise<HeldPort> {
		return holdAny(this.address, this.random);
	}

	/** A launcher that ended for this would take its workers with it, and the run's other nodes a restart. */
	private asShortage(cause: unknown): PassingError | undefined {
		const remedy = SHORTAGES.get(systemErrorCode(cause) ?? "");
		if (remedy === undefined) return undefined;
		const message = `no port can be bound for MASTER_PORT, which is tried again: ${messageOf(cause)}; if it lasts, ${remedy}`;
		if (!this.isShortageTold) this.warn(message);
		this.isShortageTold = true;
		return new PassingError(message, { cause });
	}

	/** No more claims: frees what was bound for the next one, too. */
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
): Promise<HeldPort> {
	const server = await listenOnAny(address, random);
	const bound = server.address();
	if (typeof bound !== "object" || bound === null) {
		return { port: 0, free: () => server.close() };
	}
	const free = await holdByConnection(server, bound).catch(
		// What remains is to keep listening.
		() => () => server.close(),
	);
	return { port: bound.port, free };
}

async function listenOnAny(
	address: string,
	random: () => number,
): Promise<Server> {
	for (let tries = 0; tries < TRIES; tries += 1) {
		const port =
			FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
		try {
			return await listen(address, port);
		} catch (error) {
			if (systemErrorCode(error) !== "EADDRINUSE") break;
		}
	}
	return listen(address).catch(() => listen(undefined));
}

/** Listens no more. Returns what frees the port at once, without a time in which it cannot be bound. */
async function holdByConnection(
	server: Server,
	{ address, port }: AddressInfo,
): Promise<() => void> {
	const near = connect({ port, host: HERE[address] ?? address });
	// Whatever becomes of it, the port is at most free a little earlier.
	near.on("error", () => {});
	const [[far]] = await Promise.race([
		Promise.all([once(server, "connection"), once(near, "connect")]),
		// A process without a descriptor left accepts nobody: the connection is cut, and nothing said of it.
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

/** An address that is reachable from outside need not be one that this host can bind (NAT): then any. */
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
