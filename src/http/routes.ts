import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { abortsWithin } from "../base/within.js";
import { RunKeys, stopRun } from "../rendezvous/index.js";
import {
	type AccessRule,
	type Route,
	refusalOf,
	standingOf,
	welcome,
} from "./access.js";
import { type Answer, type HttpRequest, json, words } from "./answer.js";
import type { Metrics } from "./metrics.js";
import type { Observer } from "./observer.js";

/** In milliseconds. */
const LONGEST_WAIT_MS = 1_000;
const READ = ["GET", "HEAD"];
const DO = ["POST"];

/** In addition to the files of the page. */
const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
	["/healthz", { methods: READ, need: "anybody" }],
	["/readyz", { methods: READ, need: "anybody" }],
	["/metrics", { methods: READ, need: "reader" }],
	["/status", { methods: READ, need: "reader" }],
	["/leave", { methods: DO, need: "holder" }],
	["/stop", { methods: DO, need: "holder" }],
]);
const PAGE_ROUTE: Route = { methods: READ, need: "reader" };

/** A probe is cheap to answer and needs no token. */
export function isProbe(path: string): boolean {
	return ROUTES.get(path)?.need === "anybody";
}

export interface PageFile {
	readonly type: string;
	readonly body: Buffer;
}

export interface RouterOptions {
	readonly observer: Observer;
	readonly metrics: Metrics;
	/** By path. */
	readonly page: ReadonlyMap<string, PageFile>;
	readonly clock: Clock;
	readonly leave: Leave;
}

/** Answers requests. Expensive answers are computed at most a few times per second, however many clients ask. */
export class Router {
	private readonly status: () => Promise<Answer>;
	private readonly metrics: () => Promise<Answer>;
	private readonly polls: Polls;

	constructor(private readonly options: RouterOptions) {
		const { clock, observer, metrics } = options;
		this.polls = new Polls(clock);
		this.status = shared(clock, async () => json(200, await observer.status()));
		this.metrics = shared(clock, async () => {
			const { runId, nodeId } = observer.name;
			const labels = { run_id: runId, node_id: nodeId };
			const body = await metrics.render(await observer.metricSources(), labels);
			return { status: 200, type: metrics.contentType, body };
		});
	}

	/** Resolves once the polling client, if there is one, knows of the run's end. */
	endIsKnown(): Promise<void> {
		return this.polls.endIsKnown();
	}

	async answer(request: HttpRequest, rule: AccessRule): Promise<Answer> {
		const { page } = this.options;
		const file = page.get(request.path);
		const route = file ? PAGE_ROUTE : ROUTES.get(request.path);
		// The token is checked last: a greeting is refused like any other request.
		const isGreeting = request.path === "/" && request.query.has("token");
		const needed =
			route && isGreeting ? { ...route, need: "anybody" as const } : route;
		const refusal = refusalOf(request, needed, rule);
		if (refusal !== undefined) return refusal;
		const greeting = welcome(request, rule);
		if (greeting !== undefined) return greeting;
		if (file !== undefined) return { status: 200, ...file };
		return this.answerRoute(request, rule);
	}

	private async answerRoute(
		request: HttpRequest,
		rule: AccessRule,
	): Promise<Answer> {
		const { observer, clock, leave } = this.options;
		switch (request.path) {
			case "/healthz":
				return words(200, "ok");
			case "/readyz":
				return this.ready(standingOf(request, rule) !== "nobody");
			case "/metrics":
				return this.metrics();
			case "/leave":
				return leaveNode(observer, leave);
			case "/stop":
				return endRun(observer, clock);
			default:
				return request.query.has("wait") ? this.nextStatus() : this.status();
		}
	}

	/** The status a while later, so that a polling client is connected when the agent ends, and hears how. */
	private nextStatus(): Promise<Answer> {
		const { observer, clock } = this.options;
		const { ended } = observer;
		return this.polls.answer(async () => {
			const isLast = await abortsWithin(clock, LONGEST_WAIT_MS, ended);
			const value = isLast
				? json(200, await observer.status())
				: await this.status();
			return { value, isLast };
		});
	}

	/** The reason why it is not ready names workers and failures, which only readers may see. */
	private ready(isReader: boolean): Answer {
		const { isReady, reason } = this.options.observer.readiness();
		const word = isReady ? "ready" : "not ready";
		return words(isReady ? 200 : 503, isReader ? `${word}: ${reason}` : word);
	}
}

/** How long a computed answer stays valid, in milliseconds. */
const KEPT_MS = 250;

/** A value that is computed on request and shared by all requests at about the same time. */
export function shared<Value>(
	clock: Clock,
	make: () => Promise<Value>,
): () => Promise<Value> {
	let value: Promise<Value> | undefined;
	let until = Number.POSITIVE_INFINITY;
	return () => {
		if (value === undefined || clock.now() >= until) {
			until = Number.POSITIVE_INFINITY;
			value = make().finally(() => {
				until = clock.now() + KEPT_MS;
			});
		}
		return value;
	};
}

/** A client that has asked within this time, in milliseconds, is polling; a busy browser takes a while. */
const ASKS_AGAIN_WITHIN_MS = 1_500;

/** Knows whether a client polls, and whether it knows of the end. */
export class Polls {
	private answeredAt = Number.NEGATIVE_INFINITY;
	private underWay = 0;
	private isKnown = false;
	private onKnown: () => void = () => {};

	constructor(private readonly clock: Pick<Clock, "now">) {}

	/** Answers a poll; `isLast`: the answer tells the end. */
	async answer<Value>(
		work: () => Promise<{ readonly value: Value; readonly isLast: boolean }>,
	): Promise<Value> {
		this.underWay += 1;
		try {
			const { value, isLast } = await work();
			if (isLast) {
				this.isKnown = true;
				this.onKnown();
			}
			return value;
		} finally {
			this.underWay -= 1;
			this.answeredAt = this.clock.now();
		}
	}

	/** Resolves once the polling client, if there is one, knows of the end. */
	endIsKnown(): Promise<void> {
		const isThere =
			this.underWay > 0 ||
			this.clock.now() - this.answeredAt < ASKS_AGAIN_WITHIN_MS;
		if (!isThere || this.isKnown) return Promise.resolve();
		return new Promise((resolve) => {
			this.onKnown = resolve;
		});
	}
}

/** The exit code of an agent that was told to leave: as by SIGTERM, which `elastic-run leave` sends. */
const LEFT_EXIT_CODE = 143;

/** Makes the agent leave its run, as a signal does: its workers have their grace period. */
export type Leave = (stop: {
	readonly exitCode: number;
	readonly reason: string;
}) => void;

/** `POST /leave`: this node leaves, and the run continues elsewhere if enough nodes are left. */
export function leaveNode({ name }: Observer, leave: Leave): Answer {
	leave({ exitCode: LEFT_EXIT_CODE, reason: "POST /leave" });
	return json(202, { version: 1, ...name, exitCode: LEFT_EXIT_CODE });
}

/** `POST /stop`: the run ends on all nodes, as by `elastic-run stop`. */
export async function endRun(
	{ run, name }: Observer,
	clock: Clock,
): Promise<Answer> {
	if (run === undefined) {
		return words(409, "this agent has not joined its run yet; try again");
	}
	const { runId, nodeId } = run.config;
	const keys = new RunKeys(runId);
	const reason = `POST /stop on ${nodeId}`;
	try {
		const stopped = await stopRun({ store: run.store, keys, clock, reason });
		return stopped === undefined
			? words(409, `there is no run ${name.runId} any more`)
			: json(202, { version: 1, runId, ...stopped });
	} catch (error) {
		return words(503, `${messageOf(error)}; it may be stopped all the same`);
	}
}
