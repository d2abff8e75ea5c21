import type { Clock } from "../base/clock.js";
import { abortsWithin } from "../base/within.js";
import {
	type AccessRule,
	type Route,
	refusalOf,
	standingOf,
	welcome,
} from "./access.js";
import { type Answer, type Asked, json, words } from "./answer.js";
import { endRun, type Leave, leaveNode } from "./control.js";
import type { Metrics } from "./metrics.js";
import type { Observer } from "./observer.js";
import type { PageFile } from "./page-files.js";
import { Follower, Kept } from "./polling.js";

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
	private readonly status: Kept<Answer>;
	private readonly metrics: Kept<Answer>;
	private readonly follower: Follower;

	constructor(private readonly options: RouterOptions) {
		const { clock, observer, metrics } = options;
		this.follower = new Follower(clock);
		this.status = new Kept(clock, async () =>
			json(200, await observer.status()),
		);
		this.metrics = new Kept(clock, async () => {
			const { runId, nodeId } = observer.name;
			const labels = { run_id: runId, node_id: nodeId };
			const body = await metrics.render(await observer.metricSources(), labels);
			return { status: 200, type: metrics.contentType, body };
		});
	}

	/** Resolves once the polling client, if there is one, has heard of the run's end. */
	followerHeard(): Promise<void> {
		return this.follower.heard();
	}

	async answer(asked: Asked, rule: AccessRule): Promise<Answer> {
		const { page } = this.options;
		const file = page.get(asked.path);
		const route = file ? PAGE_ROUTE : ROUTES.get(asked.path);
		// The token is checked last: a greeting is refused like any other request.
		const isGreeting = asked.path === "/" && asked.query.has("token");
		const needed =
			route && isGreeting ? { ...route, need: "anybody" as const } : route;
		const refusal = refusalOf(asked, needed, rule);
		if (refusal !== undefined) return refusal;
		const greeting = welcome(asked, rule);
		if (greeting !== undefined) return greeting;
		if (file !== undefined) return { status: 200, ...file };
		return this.answerRoute(asked, rule);
	}

	private async answerRoute(asked: Asked, rule: AccessRule): Promise<Answer> {
		const { observer, clock, leave } = this.options;
		switch (asked.path) {
			case "/healthz":
				return words(200, "ok");
			case "/readyz":
				return this.ready(standingOf(asked, rule) !== "nobody");
			case "/metrics":
				return this.metrics.get();
			case "/leave":
				return leaveNode(observer, leave);
			case "/stop":
				return endRun(observer, clock);
			default:
				return asked.query.has("wait") ? this.nextStatus() : this.status.get();
		}
	}

	/** The status a while later, so that a polling client is connected when the agent ends, and hears how. */
	private nextStatus(): Promise<Answer> {
		const { observer, clock } = this.options;
		const { ended } = observer;
		return this.follower.answer(async () => {
			const isLast = await abortsWithin(clock, LONGEST_WAIT_MS, ended);
			const value = isLast
				? json(200, await observer.status())
				: await this.status.get();
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
