import { isObject } from "../../base/shape.js";
import type { Notice } from "../notice.js";
import { jsonIn, objectIn, textIn, timeIn, wordIn } from "./parse-json.js";

/** What EC2's `spot/instance-action` says; undefined if it is no such answer. */
export function readSpotAction(body: string): Notice | undefined {
	const answer = objectIn(body);
	const action = textIn(answer?.action);
	if (action === undefined) return undefined;
	return {
		source: "aws",
		reason: `spot interruption: ${wordIn(action)}`,
		// An action without a readable time is one all the same.
		deadline: timeIn(answer?.time),
	};
}

/** What `events/recommendations/rebalance` says; undefined if it is no such answer. */
export function readRebalance(body: string): Notice | undefined {
	const answer = objectIn(body);
	if (textIn(answer?.noticeTime) === undefined) return undefined;
	return {
		source: "aws",
		reason: "rebalance recommendation: a raised risk of a spot interruption",
		deadline: undefined,
	};
}

/** What `events/maintenance/scheduled` says, without what is over; undefined if it is no such answer. */
export function readMaintenance(body: string): readonly Notice[] | undefined {
	const answer = jsonIn(body);
	if (!Array.isArray(answer)) return undefined;
	return answer.flatMap((event: unknown): readonly Notice[] => {
		if (!isObject(event)) return [];
		const { Code, State, Description, NotBefore } = event;
		if (textIn(Code) === undefined) return [];
		if (State === "completed" || State === "canceled") return [];
		const about = textIn(Description);
		return [
			{
				source: "aws",
				reason: `scheduled maintenance: ${wordIn(Code)}${about === undefined ? "" : `, ${wordIn(about)}`}`,
				deadline: timeIn(NotBefore),
			},
		];
	});
}

/** How long a token lives, in milliseconds, as the answer's header says. */
export function readTokenLifeMs(
	header: string | undefined,
	askedSeconds: number,
): number {
	const seconds = /^\d{1,6}$/.test(header ?? "") ? Number(header) : 0;
	return (seconds > 0 ? Math.min(seconds, askedSeconds) : askedSeconds) * 1_000;
}
