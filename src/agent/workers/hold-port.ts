import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { systemErrorCode } from "../../base/errors.js";

/** The address at which this host reaches a listener on all addresses. */
const HERE: Readonly<Record<string, string>> = {
	"::": "127.0.0.1",
	"0.0.0.0": "127.0.0.1",
};

export interface HeldPort {
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
export async function holdOneOf(
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
