import type { Clock } from "../../base/clock.js";
import { isObject } from "../../base/shape.js";
import type { Notice } from "../../model/index.js";
import { MetadataService, unexpectedBody } from "./http.js";
import { objectIn, textIn, timeIn, wordIn } from "./parse-json.js";
import type { Cloud, CloudSource, PolledValue, Reading } from "./source.js";

/** Azure's scheduled events, of this machine only. */
export const AZURE: CloudSource = {
	name: "Azure",
	variable: "ELASTIC_RUN_AZURE_METADATA_URL",
	place: "http://169.254.169.254",
	// The tag of all of its machines; other machines of Hyper-V have none.
	isIn: ({ chassis_asset_tag }) =>
		chassis_asset_tag === "7783-7084-3265-9085-8269-3286-77",
	open: (transport, place, clock) => {
		const base = place.replace(/\/+$/, "").replace(/\/metadata$/, "");
		return new Azure(new MetadataService(transport, base), clock);
	},
};

const HEADERS = { metadata: "true" };
const INSTANCE = "/metadata/instance?api-version=2021-02-01";
const EVENTS = "/metadata/scheduledevents?api-version=2020-07-01";
/** The first request turns the service on, which may take it two minutes. */
const FIRST_WITHIN_MS = 120_000;

class Azure implements Cloud {
	readonly values: readonly PolledValue[] = [
		{
			name: "Azure",
			source: "azure",
			// As Azure recommends.
			everyMs: 1_000,
			withdrawn: "the scheduled event is gone",
			poll: () => this.readEvents(),
		},
	];
	private ownName: string | undefined;
	private incarnation: number | undefined;
	private events: readonly AzureEvent[] = [];

	constructor(
		private readonly service: MetadataService,
		private readonly clock: Pick<Clock, "wallTime">,
	) {}

	async find(): Promise<void> {
		const { url, response } = await this.service.get(INSTANCE, HEADERS);
		this.ownName = readOwnName(response.body);
		if (this.ownName !== undefined) return;
		throw new Error(`${url} names no machine`);
	}

	/** Lets Azure go ahead with the end of this machine, of nothing else: it need not wait any longer. */
	async left(): Promise<void> {
		if (firstEnd(this.events) === undefined) return;
		const ended = this.events.filter(({ mayGoAhead }) => mayGoAhead);
		if (ended.length === 0) return;
		const requests = ended.map(({ id }) => ({ EventId: id }));
		await this.service.fetch(
			EVENTS,
			{ ...HEADERS, "content-type": "application/json" },
			{ method: "POST", body: JSON.stringify({ StartRequests: requests }) },
		);
	}

	private async readEvents(): Promise<Reading | "unchanged"> {
		if (this.ownName === undefined) await this.find();
		const isFirst = this.incarnation === undefined;
		const { url, response } = await this.service.get(
			EVENTS,
			HEADERS,
			isFirst ? { timeoutMs: FIRST_WITHIN_MS } : {},
		);
		const document = readScheduledEvents(
			response.body,
			this.ownName ?? "",
			this.clock.wallTime(),
		);
		if (document === undefined) throw unexpectedBody(url);
		if (document.incarnation === this.incarnation) return "unchanged";
		this.incarnation = document.incarnation;
		this.events = document.events;
		const pauses = this.events.filter(({ isEnd }) => !isEnd);
		return {
			notice: firstEnd(this.events)?.notice,
			advice: pauses.map(({ notice }) => notice),
		};
	}
}

/** An event of Azure that concerns this machine. */
interface AzureEvent {
	readonly id: string;
	readonly type: string;
	/** It concerns no other machine, and ends this one: it may be approved. */
	readonly mayGoAhead: boolean;
	/** The machine or its memory goes; otherwise it only pauses. */
	readonly isEnd: boolean;
	readonly notice: Notice;
}

interface AzureDocument {
	/** Changes with the events. */
	readonly incarnation: number;
	readonly events: readonly AzureEvent[];
}

/** Events after which nothing that ran goes on. */
const ENDS: readonly unknown[] = ["Reboot", "Redeploy", "Preempt", "Terminate"];
const OWN_ENDS: readonly unknown[] = ["Preempt", "Terminate"];

/**
 * Azure's document of scheduled events; undefined if it is no such document. Other machines' events are left out.
 * @param wallTime milliseconds since 1970
 */
export function readScheduledEvents(
	body: string,
	ownName: string,
	wallTime: number,
): AzureDocument | undefined {
	const answer = objectIn(body);
	const incarnation = answer?.DocumentIncarnation;
	const events = answer?.Events;
	if (typeof incarnation !== "number" || !Array.isArray(events)) {
		return undefined;
	}
	return {
		incarnation,
		events: events.flatMap((event: unknown) => {
			const own = readEvent(event, ownName, wallTime);
			return own === undefined ? [] : [own];
		}),
	};
}

function readEvent(
	event: unknown,
	ownName: string,
	wallTime: number,
): AzureEvent | undefined {
	if (!isObject(event)) return undefined;
	const { EventType, Resources, EventStatus, NotBefore, Description } = event;
	const id = textIn(event.EventId);
	const type = textIn(EventType);
	if (id === undefined || type === undefined) return undefined;
	if (!Array.isArray(Resources) || !Resources.some(isNamed(ownName))) {
		return undefined;
	}
	const about = textIn(Description);
	// Once it has started it may come at any moment.
	const deadline = EventStatus === "Started" ? wallTime : timeIn(NotBefore);
	const isEnd = ENDS.includes(type) && event.DurationInSeconds !== 0;
	return {
		id,
		type,
		mayGoAhead: OWN_ENDS.includes(type) && Resources.every(isNamed(ownName)),
		isEnd,
		notice: {
			source: "azure",
			reason: `scheduled event ${wordIn(type)}${about === undefined ? "" : `: ${wordIn(about)}`}`,
			deadline,
		},
	};
}

/** Names of machines are compared as Azure does. */
function isNamed(name: string): (resource: unknown) => boolean {
	return (resource) =>
		typeof resource === "string" &&
		resource.toLowerCase() === name.toLowerCase();
}

/** The machine's name in the answer of `/metadata/instance`; undefined if there is none. */
export function readOwnName(body: string): string | undefined {
	const compute = objectIn(body)?.compute;
	return isObject(compute) ? textIn(compute.name) : undefined;
}

/** The event that ends this machine first. One without a readable time may be the first. */
export function firstEnd(
	events: readonly AzureEvent[],
): AzureEvent | undefined {
	const time = ({ notice }: AzureEvent) =>
		notice.deadline ?? Number.NEGATIVE_INFINITY;
	return events
		.filter(({ isEnd }) => isEnd)
		.sort((left, right) => time(left) - time(right))[0];
}
