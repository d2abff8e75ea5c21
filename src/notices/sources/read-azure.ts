import { isObject } from "../../base/shape.js";
import type { Notice } from "../notice.js";
import { objectIn, textIn, timeIn, wordIn } from "./parse-json.js";

/** An event of Azure that concerns this machine. */
export interface AzureEvent {
	readonly id: string;
	readonly type: string;
	/** It concerns no other machine, and ends this one: it may be told to go ahead. */
	readonly mayGoAhead: boolean;
	/** The machine or its memory goes; otherwise it only pauses. */
	readonly isEnd: boolean;
	readonly notice: Notice;
}

export interface AzureDocument {
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
