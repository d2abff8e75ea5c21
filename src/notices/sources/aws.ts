import type { Clock } from "../../base/clock.js";
import { isObject } from "../../base/shape.js";
import type { Notice } from "../../model/index.js";
import {
	type Exchange,
	expectSuccess,
	MetadataService,
	unexpectedBody,
} from "./http.js";
import { jsonIn, objectIn, textIn, timeIn, wordIn } from "./parse-json.js";
import type { Cloud, CloudSource, PolledValue, Reading } from "./source.js";

/** EC2's instance metadata service, version 2. */
export const AWS: CloudSource = {
	name: "AWS",
	variable: "AWS_EC2_METADATA_SERVICE_ENDPOINT",
	place: "http://169.254.169.254",
	// Older machines of EC2 are Xen's.
	isIn: ({ sys_vendor, bios_version }) =>
		sys_vendor.startsWith("Amazon EC2") || bios_version.endsWith(".amazon"),
	open: (transport, place, clock) =>
		new Aws(new MetadataService(transport, place), clock),
};

const TOKEN_SECONDS = 3_600;
const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
/** A token is renewed so long before its end, in milliseconds. */
const RENEW_BEFORE_MS = 15_000;
const META = "/latest/meta-data/";

class Aws implements Cloud {
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
	private token: { readonly text: string; readonly until: number } | undefined;
	private isSpot = false;

	constructor(
		private readonly service: MetadataService,
		private readonly clock: Pick<Clock, "now">,
	) {}

	readonly find = () => this.freshToken();

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
		throw unexpectedBody(this.service.place + META + path);
	}

	/** The body; undefined: nothing is there. */
	private async text(path: string): Promise<string | undefined> {
		let exchange = await this.fetch(path);
		if (exchange.response.status === 401) {
			this.token = undefined;
			exchange = await this.fetch(path);
		}
		if (exchange.response.status === 404) return undefined;
		return expectSuccess(exchange).response.body;
	}

	private async fetch(path: string): Promise<Exchange> {
		const token = this.token;
		const isFresh = token !== undefined && this.clock.now() < token.until;
		const text = isFresh ? token.text : await this.freshToken();
		const headers = { "x-aws-ec2-metadata-token": text };
		return this.service.fetch(META + path, headers);
	}

	private async freshToken(): Promise<string> {
		const sentAt = this.clock.now();
		const { url, response } = await this.service.get(
			"/latest/api/token",
			{ [TTL_HEADER]: String(TOKEN_SECONDS) },
			{ method: "PUT" },
		);
		const text = response.body.trim();
		// It becomes a header.
		if (!/^[\w+/=.~-]{1,1024}$/.test(text)) {
			throw new Error(`${url} answers without a token`);
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
