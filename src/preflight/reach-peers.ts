import { connect } from "node:net";
import type { Clock } from "../base/clock.js";
import { systemErrorCode } from "../base/errors.js";
import type { NodeRecord } from "../rendezvous/records/records.js";
import type { NodeMeasures } from "./judge-node.js";

/** In a large run a few show whether there is a way. */
const MOST_PEERS = 32;
const ANSWER_WITHIN_MS = 400;

type Peer = Pick<NodeRecord, "nodeId" | "address" | "masterPort">;

/** The peers to which there is no way. A machine that refuses a connection has been reached. */
export async function unreachablePeers(
	peers: readonly Peer[],
	clock: Clock,
): Promise<NodeMeasures["unreachable"]> {
	const tried = await Promise.all(
		peers.slice(0, MOST_PEERS).map(async (peer) => ({
			nodeId: peer.nodeId,
			address: peer.address,
			problem: await problemWith(peer, clock),
		})),
	);
	return tried.flatMap(({ problem, ...peer }) =>
		problem === undefined ? [] : [{ ...peer, problem }],
	);
}

function problemWith(
	{ address, masterPort }: Peer,
	clock: Clock,
): Promise<string | undefined> {
	return new Promise((resolve) => {
		const socket = connect({ host: address, port: masterPort || 1 });
		const give = (problem: string | undefined) => {
			cancel();
			socket.destroy();
			resolve(problem);
		};
		const cancel = clock.wakeAt(clock.now() + ANSWER_WITHIN_MS, () =>
			give(`no answer within ${ANSWER_WITHIN_MS} ms`),
		);
		socket.on("connect", () => give(undefined));
		socket.on("error", (error) => {
			const code = systemErrorCode(error);
			give(code === "ECONNREFUSED" ? undefined : (code ?? error.message));
		});
	});
}
