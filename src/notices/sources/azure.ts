import { ANSWER_WITHIN_MS, type Answer, type Ask, odd } from "./exchange.js";
import { PollLoop } from "./poll-loop.js";
import {
	type AzureEvent,
	firstEnd,
	readOwnName,
	readScheduledEvents,
} from "./read-azure.js";
import type { Cloud, CloudContext } from "./source.js";
import { TellChanges } from "./tell-changes.js";

export const AZURE_VARIABLE = "ELASTIC_RUN_AZURE_METADATA_URL";
const PLACE = "http://169.254.169.254";
const INSTANCE = "/metadata/instance?api-version=2021-02-01";
const EVENTS = "/metadata/scheduledevents?api-version=2020-07-01";
const GONE = "the scheduled event is gone";
/** As Azure asks for. */
const LOOK_EVERY_MS = 1_000;
/** The first question turns the service on, which may take it two minutes. */
const FIRST_WITHIN_MS = 120_000;

/** Azure's scheduled events, of this machine only. */
export class Azure implements Cloud {
	private readonly place: string;
	private readonly tell: TellChanges;
	private readonly loop: PollLoop;
	private ownName: string | undefined;
	private incarnation: number | undefined;
	private events: readonly AzureEvent[] = [];

	constructor(private readonly context: CloudContext) {
		const named = context.environment[AZURE_VARIABLE] || PLACE;
		this.place = named.replace(/\/+$/, "").replace(/\/metadata$/, "");
		this.tell = new TellChanges({ source: "azure" }, context.listener);
		this.loop = new PollLoop({
			...context,
			name: "Azure",
			everyMs: LOOK_EVERY_MS,
			look: () => this.look(),
		});
	}

	async identify(): Promise<void> {
		const { ask, answer } = await this.get(INSTANCE);
		this.ownName = readOwnName(answer.body);
		if (this.ownName !== undefined) return;
		throw new Error(`${ask.url} names no machine`);
	}

	start(): void {
		this.loop.start();
	}

	close(): void {
		this.loop.close();
	}

	/** Lets Azure go ahead with the end of this machine, of nothing else: it need not wait any longer. */
	async left(): Promise<void> {
		if (this.tell.present === undefined) return;
		const ended = this.events.filter(({ mayGoAhead }) => mayGoAhead);
		if (ended.length === 0) return;
		await this.context.transport.exchange({
			method: "POST",
			url: this.place + EVENTS,
			headers: { metadata: "true", "content-type": "application/json" },
			body: JSON.stringify({
				StartRequests: ended.map(({ id }) => ({ EventId: id })),
			}),
			timeoutMs: ANSWER_WITHIN_MS,
		});
	}

	private async look(): Promise<void> {
		if (this.ownName === undefined) await this.identify();
		const isFirst = this.incarnation === undefined;
		const withinMs = isFirst ? FIRST_WITHIN_MS : ANSWER_WITHIN_MS;
		const { ask, answer } = await this.get(EVENTS, withinMs);
		const document = readScheduledEvents(
			answer.body,
			this.ownName ?? "",
			this.context.clock.wallTime(),
		);
		if (document === undefined) {
			throw new Error(`${ask.url} answers with something unexpected`);
		}
		if (document.incarnation === this.incarnation) return;
		this.incarnation = document.incarnation;
		this.events = document.events;
		const pauses = this.events.filter(({ isEnd }) => !isEnd);
		this.tell.advice(
			pauses.map(({ notice }) => notice),
			GONE,
		);
		this.tell.notice(firstEnd(this.events)?.notice, GONE);
	}

	private async get(
		path: string,
		timeoutMs = ANSWER_WITHIN_MS,
	): Promise<{ ask: Ask; answer: Answer }> {
		const ask: Ask = {
			method: "GET",
			url: this.place + path,
			headers: { metadata: "true" },
			timeoutMs,
		};
		const answer = await this.context.transport.exchange(ask);
		if (answer.status !== 200) throw odd(ask, answer);
		return { ask, answer };
	}
}
