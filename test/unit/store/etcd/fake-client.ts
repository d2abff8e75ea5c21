import type { Clock } from "../../../../src/base/clock.js";
import { Connections } from "../../../../src/store/etcd/calls.js";
import type { Status } from "../../../../src/store/etcd/errors.js";
import type {
	EtcdClient,
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
	WatchRequest,
	WatchResponse,
} from "../../../../src/store/etcd/etcd-client.js";
import type { StreamHandlers } from "../../../../src/store/etcd/pending-calls.js";

/** One stream as the far end has it. */
export interface FakeStream<Request, Answer> {
	readonly token: string | undefined;
	readonly requests: Request[];
	readonly isOpen: boolean;
	answer(answer: Answer): void;
	end(status: Status): void;
}

/** A connection to an etcd that a test plays. */
export class FakeClient {
	readonly keepAliveStreams: FakeStream<
		LeaseKeepAliveRequest,
		LeaseKeepAliveResponse
	>[] = [];
	readonly watchStreams: FakeStream<WatchRequest, WatchResponse>[] = [];
	readonly sockets = { opened: 1 };
	heardAt = Number.NEGATIVE_INFINITY;
	isReached = false;
	closedAs: Status | undefined;

	constructor(readonly endpoint: string) {}

	keepAlives(
		token: string | undefined,
		handlers: StreamHandlers<LeaseKeepAliveResponse>,
	) {
		return open(this.keepAliveStreams, token, handlers);
	}

	watches(token: string | undefined, handlers: StreamHandlers<WatchResponse>) {
		return open(this.watchStreams, token, handlers);
	}

	close(status: Status): void {
		this.closedAs = status;
		for (const each of this.keepAliveStreams) each.end(status);
		for (const each of this.watchStreams) each.end(status);
	}
}

/** Connections to such clients, all of which are kept. */
export function fakeConnections(
	clock: Clock,
	{
		endpoints = ["a:1"],
		random = () => 0,
	}: {
		readonly endpoints?: readonly string[];
		readonly random?: () => number;
	} = {},
): { connections: Connections; clients: readonly FakeClient[] } {
	const clients: FakeClient[] = [];
	const connect = (endpoint: string) => {
		const client = new FakeClient(endpoint);
		clients.push(client);
		return client as unknown as EtcdClient;
	};
	const connections = new Connections({ endpoints, connect, clock, random });
	return { connections, clients };
}

function open<Request, Answer>(
	streams: FakeStream<Request, Answer>[],
	token: string | undefined,
	{ onAnswer, onEnd }: StreamHandlers<Answer>,
) {
	const requests: Request[] = [];
	let isOpen = true;
	streams.push({
		token,
		requests,
		get isOpen() {
			return isOpen;
		},
		answer: (answer) => {
			if (isOpen) onAnswer(answer);
		},
		end: (status) => {
			if (!isOpen) return;
			isOpen = false;
			onEnd(status);
		},
	});
	return {
		write: (request: Request) => {
			if (isOpen) requests.push(request);
		},
		close: () => {
			isOpen = false;
		},
	};
}
