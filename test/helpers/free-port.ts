import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that kernels give to outgoing connections: while a server is down, one of its
 * clients could be given its port, or even be connected to itself.
 */
const LOWEST = 10_000;
const HIGHEST = 32_000;
const MOST_TRIES = 100;

/** A port of 127.0.0.1 on which nobody listens now. */
export async function freePort(): Promise<number> {
	for (let tries = 0; tries < MOST_TRIES; tries++) {
		const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
		if (await isFree(port)) return port;
	}
	throw new Error(`${MOST_TRIES} ports were all taken`);
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, "127.0.0.1");
		await once(server, "listening");
		return true;
	} catch {
		return false;
	} finally {
		server.close();
	}
}
