import type { WatchResponse } from "../../../../src/store/etcd/etcd-client.js";
import { callTime } from "../../../../src/store/etcd/pending-calls.js";
import { WatchStream } from "../../../../src/store/etcd/watches.js";
import { VirtualClock } from "../../../helpers/virtual-clock.js";
import { fakeConnections } from "./fake-client.js";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function answerOf(
	fields: Partial<Omit<WatchResponse, "header">>,
	revision = 1,
): WatchResponse {
	return {
		watch_id: "0",
		created: false,
		canceled: false,
		compact_revision: "0",
		events: [],
		header: {
			cluster_id: "1",
			member_id: "1",
			revision: String(revision),
			raft_term: "1",
		},
		...fields,
	} as WatchResponse;
}

export const changes = (id: string, count = 1, revision = 1) =>
	answerOf({ watch_id: id, events: Array(count).fill({}) }, revision);

/** Keys that were put, or deleted where they hold nothing, in one revision. */
export const puts = (
	id: string,
	revision: number,
	held: Readonly<Record<string, string | null>>,
) => {
	const events = Object.entries(held).map(([key, value]) => ({
		type: value === null ? "Delete" : "Put",
		kv: {
			key: Buffer.from(key),
			value: Buffer.from(value ?? ""),
			create_revision: "1",
			mod_revision: String(revision),
			lease: "0",
		},
	}));
	return answerOf({ watch_id: id, events } as never, revision);
};

interface Settings {
	readonly token?: () => Promise<string | undefined>;
}

/** The watches of a store whose etcd a test plays. */
export function watchesOf({ token = async () => undefined }: Settings = {}) {
	const clock = new VirtualClock(0);
	const { connections, clients } = fakeConnections(clock);
	const refusedTokens: (string | undefined)[] = [];
	const counted: number[] = [];
	const watches = new WatchStream({
		time: callTime(),
		clock,
		connections,
		token,
		onRefused: (refused) => refusedTokens.push(refused),
		onStreamEnd: (client, { details }) => connections.giveUp(client, details),
		onEvents: (count) => counted.push(count),
	});
	const hints: string[] = [];
	const newsTold: ((readonly [string, string])[] | undefined)[] = [];
	const watch = (name: string, selectors: readonly string[], after = 1) =>
		watches.watch(selectors, after, (_, news) => {
			hints.push(name);
			newsTold.push(news?.map(({ key, value }) => [key, value] as const));
		});
	const streams = () => clients.flatMap((client) => client.watchStreams);
	const latest = () => {
		const stream = streams().at(-1);
		if (stream === undefined) throw new Error("there is no stream");
		return stream;
	};
	/** Grants all watches of the latest stream that were asked for, with ids from `from` on. */
	const grant = (count: number, { from = 0, revision = 1 } = {}) => {
		for (let n = from; n < from + count; n++) {
			latest().answer(
				answerOf({ created: true, watch_id: String(n) }, revision),
			);
		}
	};
	const told = async () => {
		await nextTurn();
		return hints.splice(0);
	};
	const newsOf = async () => {
		await nextTurn();
		return newsTold.splice(0);
	};
	return {
		newsOf,
		clock,
		clients,
		watches,
		watch,
		streams,
		latest,
		grant,
		told,
		refusedTokens,
		counted,
	};
}
