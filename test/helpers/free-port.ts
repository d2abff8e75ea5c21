import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Neither those that kernels give to outgoing connections (while a server is down, one of its clients could be given its
 * port, or even be connected to itself), nor those that launchers bind for their workers.
 */
const RANGES = [
	{ from: 30_000, to: 32_700 },
	{ from: 61_000, to: 65_500 },
];
const MOST_TRIES = 100;

/** A port on which nobody listens now at any address of this machine, nor on the next one, which etcd takes too. */
export async function freePort(): Promise<number> {
	for (let tries = 0; tries < MOST_TRIES; tries++) {
		const port = anyPort();
		if ((await isFree(port)) && (await isFree(port + 1))) return port;
	}
	throw new Error(`${MOST_TRIES} ports were all taken`);
}

function anyPort(): number {
	const ports = RANGES.map(({ from, to }) => to - from);
	const all = ports.reduce((sum, count) => sum + count);
	let place = Math.floor(Math.random() * all);
	for (const { from, to } of RANGES) {
		if (place < to - from) return from + place;
		place -= to - from;
	}
	throw new Error("no range has this place");
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, "0.0.0.0");
		await once(server, "listening");
		return true;
	} catch {
		return false;
	} finally {
		server.close();
	}
}
