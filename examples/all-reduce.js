// Adds up arrays over all workers, by TCP. Every worker sends its array to rank
// 0, which adds them in the order of the ranks, whoever was first, and sends
// the sum back. Floating-point sums depend on their order: with a fixed one, a
// run that was interrupted ends in exactly the numbers of one that was not.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const RETRY_MS = 20;
const JOIN_TIMEOUT_MS = 60_000;

/** Another worker of the round has died, or has left. */
export class WorkerGoneError extends Error {}

/**
 * Connects this worker with the others. `token` is [instance, round]: a worker
 * of an older round that does not know that it was left behind is turned away.
 * A pending `sum` rejects with WorkerGoneError when another worker dies, and
 * when `signal` is aborted.
 */
export async function joinGroup(options) {
	const { rank, worldSize, token, signal } = options;
	const hello = Float64Array.of(...token, rank);
	const patience = AbortSignal.timeout(JOIN_TIMEOUT_MS);
	const joining = AbortSignal.any([signal, patience]);
	const peers =
		rank === 0
			? await acceptPeers(worldSize, hello, options.port, joining)
			: [await connectToRank0(hello, options, joining)];
	const abandon = () => {
		for (const { socket } of peers) socket.destroy();
	};
	signal.addEventListener("abort", abandon);
	if (signal.aborted) abandon();
	return {
		/** Replaces the contents of `array` by the sum over all ranks, which all call it alike. */
		sum: (array) =>
			rank === 0 ? gatherAndAnswer(peers, array) : sendAndTake(peers[0], array),
		/** Says goodbye, when everybody has the last sum or is about to. */
		leave() {
			signal.removeEventListener("abort", abandon);
			for (const { socket } of peers) socket.end();
		},
	};
}

async function gatherAndAnswer(peers, array) {
	for (const peer of peers) {
		const addend = await receive(peer, array.length);
		for (let i = 0; i < array.length; i += 1) array[i] += addend[i];
	}
	// A copy, because the caller may go on to change the array before it is sent.
	const answer = array.slice();
	for (const peer of peers) send(peer, answer);
}

async function sendAndTake(rank0, array) {
	send(rank0, array.slice());
	array.set(await receive(rank0, array.length));
}

/** Rank 0: waits until all others have said hello. */
async function acceptPeers(worldSize, hello, port, signal) {
	const peers = [];
	if (worldSize === 1) return peers;
	const [instance, round] = hello;
	const server = createServer();
	const sockets = [];
	try {
		server.listen(port);
		await once(server, "listening", { signal });
		await new Promise((resolve, reject) => {
			signal.addEventListener("abort", () => {
				const missing = worldSize - 1 - peers.length;
				reject(new Error(`${missing} workers are missing: ${signal.reason}`));
			});
			server.on("connection", async (socket) => {
				sockets.push(socket);
				const peer = peerOf(socket, "a worker that has not said hello");
				const said = await receive(peer, hello.length).catch(() => []);
				const rank = said[2];
				const isOurs = said[0] === instance && said[1] === round;
				if (!isOurs || peers.some((other) => other.rank === rank)) {
					socket.destroy();
					return;
				}
				peers.push({ ...peer, rank, name: `rank ${rank}` });
				if (peers.length === worldSize - 1) resolve(undefined);
			});
		});
	} catch (error) {
		// A peer that has said hello would wait for the first sum for ever.
		for (const socket of sockets) socket.destroy();
		throw error;
	} finally {
		server.close();
	}
	return peers.sort((a, b) => a.rank - b.rank);
}

/** The others: try until rank 0 listens. */
async function connectToRank0(hello, { address, port }, signal) {
	for (;;) {
		const socket = connect(port, address);
		try {
			await once(socket, "connect", { signal });
			const peer = peerOf(socket, "rank 0");
			send(peer, hello);
			return peer;
		} catch (error) {
			socket.destroy();
			if (signal.aborted) {
				throw new Error(`Rank 0 does not answer at ${address}:${port}`, {
					cause: error,
				});
			}
			await sleep(RETRY_MS);
		}
	}
}

function peerOf(socket, name) {
	socket.setNoDelay(true);
	// What went wrong is told by "close", which follows each "error".
	socket.on("error", () => {});
	return { socket, name };
}

function send({ socket }, array) {
	socket.write(
		new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
	);
}

/** The next `length` numbers from a peer. */
function receive({ socket, name }, length) {
	return new Promise((resolve, reject) => {
		const finish = (settle, value) => {
			socket.off("readable", take);
			socket.off("close", lose);
			settle(value);
		};
		const lose = () =>
			finish(reject, new WorkerGoneError(`lost the connection to ${name}`));
		const take = () => {
			const chunk = socket.read(length * Float64Array.BYTES_PER_ELEMENT);
			if (chunk === null) return;
			const bytes = new Uint8Array(chunk);
			if (bytes.length < length * Float64Array.BYTES_PER_ELEMENT) lose();
			else finish(resolve, new Float64Array(bytes.buffer));
		};
		socket.on("readable", take);
		socket.on("close", lose);
		if (socket.destroyed) lose();
		else take();
	});
}
