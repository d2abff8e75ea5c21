import { once } from "node:events";
import { connect } from "node:net";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { openStore, ROUND, RunKeys, recordAt } from "../../rendezvous/index.js";
import type { StorePlace } from "./facts.js";

const WITHIN_MS = 3_000;

/** How the agent that all others call can be called from here. */
export interface LinkFacts {
	readonly nodeId: string;
	readonly address: string;
	readonly port: number;
	/** Why it cannot be called, in words. */
	readonly problem: string | undefined;
}

/** Calls the head of the round, and hangs up; undefined if there is none with links. */
export async function probeLink(
	{ store: config, runId }: StorePlace,
	clock: Clock,
): Promise<LinkFacts | undefined> {
	if (runId === undefined) return undefined;
	const key = new RunKeys(runId).round;
	const store = await openStore(config, { clock, random: () => 0 });
	try {
		const snapshot = await store.snapshot([key]);
		const { nodeId = "", link } = recordAt(ROUND, snapshot, key)?.head ?? {};
		if (link === undefined) return undefined;
		const { address, port } = link;
		const problem = await callProblem(address, port, clock);
		return { nodeId, address, port, problem };
	} catch {
		// What is wrong with the store is said by its own check.
		return undefined;
	} finally {
		await store.close();
	}
}

async function callProblem(
	host: string,
	port: number,
	clock: Clock,
): Promise<string | undefined> {
	const socket = connect({ host, port });
	const cancel = clock.wakeAt(clock.now() + WITHIN_MS, () =>
		socket.destroy(new Error(`no answer within ${WITHIN_MS / 1_000} s`)),
	);
	try {
		await once(socket, "connect");
		return undefined;
	} catch (error) {
		return messageOf(error);
	} finally {
		cancel();
		socket.destroy();
	}
}
