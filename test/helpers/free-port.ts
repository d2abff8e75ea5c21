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
/** etcd takes the next one too; beside a master's port it takes two. */
const PORTS_A_TEST = 3;

/**
 * Each of vitest's processes has places of its own, and takes them in turn: seconds pass before a launcher listens, and
 * between two runs at one port, in which another test would find it free.
 */
const PROCESSES = 16;
const PLACES = RANGES.flatMap(({ from, to }) =>
	Array.from({ length: Math.floor((to - from) / PORTS_A_TEST) }, (_, place) => {
		return from + place * PORTS_A_TEST;
	}),
).filter(
	(_, place) =>
		place % PROCESSES === Number(process.env.VITEST_POOL_ID ?? 0) % PROCESSES,
);
let turn = Math.floor(Math.random() * PLACES.length);

/** A port on which nobody listens now at any address of this machine, nor on the two after it. */
export async function freePort(): Promise<number> {
	for (let tries = 0; tries < MOST_TRIES; tries++) {
		turn = (turn + 1) % PLACES.length;
		const port = PLACES[turn] ?? 0;
		const isEach = [port, port + 1, port + 2].map(isFree);
		if ((await Promise.all(isEach)).every(Boolean)) return port;
	}
	throw new Error(`${MOST_TRIES} ports were all taken`);
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
