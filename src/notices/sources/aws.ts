import { isObject } from "../../base/shape.js";
import type { Notice } from "../../model/notice.js";
import {
	type HttpRequest,
	type HttpResponse,
	RESPONSE_WITHIN_MS,
	unexpectedStatus,
} from "./http.js";
import { jsonIn, objectIn, textIn, timeIn, wordIn } from "./parse-json.js";
import type { Cloud, CloudContext, PolledValue, Reading } from "./source.js";

export const AWS_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
const PLACE = "http://169.254.169.254";
const TOKEN_SECONDS = 3_600;
const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
/** A token is renewed so long before its end, in milliseconds. */
const RENEW_BEFORE_MS = 15_000;
const META = "/latest/meta-data/";

/** The instance metadata service of EC2, version 2. */
export class Aws implements Cloud {
	readonly values: readonly PolledValue[] = [
		{
			name: "AWS",
			source: "aws",
			// AWS advises 5 s of its two minutes.
			everyMs: 2_000,
			withdrawn: "the spot interruption is no longer announced",
			poll: () => this.readEnd(),
		},
		{
			name: "AWS's recommendations",
			source: "aws",
			everyMs: 30_000,
			withdrawn: "AWS no longer recommends it",
			poll: () => this.readAdvice(),
		},
	];
	private readonly place: string;
	private token: { readonly text: string; readonly until: number } | undefined;
	private isSpot = false;

	constructor(private readonly context: CloudContext) {
		const named = context.environment[AWS_VARIABLE] || PLACE;
		this.place = named.replace(/\/+$/, "");
	}

	async find(): Promise<void> {
		await this.freshToken();
	}

	private async readEnd(): Promise<Reading | "over"> {
		if (!this.isSpot) {
			// Only spot instances are interrupted: on others nothing need wake the process.
			if ((await this.text("instance-life-cycle")) === "on-demand")
				return "over";
			this.isSpot = true;
		}
		return { notice: await this.read("spot/instance-action", readSpotAction) };
	}

	private async readAdvice(): Promise<Reading> {
		const rebalance = await this.read(
			"events/recommendations/rebalance",
			readRebalance,
		);
		const maintenance = await this.read(
			"events/maintenance/scheduled",
			readMaintenance,
		);
		const rebalances = rebalance === undefined ? [] : [rebalance];
		return { advice: [...rebalances, ...(maintenance ?? [])] };
	}

	/** Undefined: there is nothing at this path. Rejects if the response cannot be read. */
	private async read<T>(
		path: string,
		parse: (body: string) => T | undefined,
	): Promise<T | undefined> {
		const body = await this.text(path);
		if (body === undefined) return undefined;
		const read = parse(body);
		if (read !== undefined) return read;
		throw new Error(
			`${this.place}${META}${path} answers with something unexpected`,
		);
	}

	/** The body; undefined: nothing is there. */
	private async text(path: string): Promise<string | undefined> {
		let { request, response } = await this.fetch(path);
		if (response.status === 401) {
			this.token = undefined;
			({ request, response } = await this.fetch(path));
		}
		if (response.status === 404) return undefined;
		if (response.status !== 200) throw unexpectedStatus(request, response);
		return response.body;
	}

	private async fetch(
		path: string,
	): Promise<{ request: HttpRequest; response: HttpResponse }> {
		const { clock, transport } = this.context;
		const token = this.token;
		const isFresh = token !== undefined && clock.now() < token.until;
		const text = isFresh ? token.text : await this.freshToken();
		const request: HttpRequest = {
			method: "GET",
			url: `${this.place}${META}${path}`,
			headers: { "x-aws-ec2-metadata-token": text },
			timeoutMs: RESPONSE_WITHIN_MS,
		};
		return { request, response: await transport.fetch(request) };
	}

	private async freshToken(): Promise<string> {
		const { clock, transport } = this.context;
		const request: HttpRequest = {
			method: "PUT",
			url: `${this.place}/latest/api/token`,
			headers: { [TTL_HEADER]: String(TOKEN_SECONDS) },
			timeoutMs: RESPONSE_WITHIN_MS,
		};
		const sentAt = clock.now();
		const response = await transport.fetch(request);
		const text = response.body.trim();
		if (response.status !== 200) throw unexpectedStatus(request, response);
		// It becomes a header.
		if (!/^[\w+/=.~-]{1,1024}$/.test(text)) {
			throw new Error(`${request.url} answers without a token`);
		}
		const lifeMs = readTokenLifeMs(response.headers[TTL_HEADER], TOKEN_SECONDS);
		this.token = { text, until: sentAt + lifeMs - RENEW_BEFORE_MS };
		return text;
	}
}

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
