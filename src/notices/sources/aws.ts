import { ANSWER_WITHIN_MS, type Answer, type Ask, odd } from "./exchange.js";
import { PollLoop } from "./poll-loop.js";
import {
	readMaintenance,
	readRebalance,
	readSpotAction,
	readTokenLifeMs,
} from "./read-aws.js";
import type { Cloud, CloudContext } from "./source.js";
import { TellChanges } from "./tell-changes.js";

export const AWS_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
const PLACE = "http://169.254.169.254";
const TOKEN_SECONDS = 3_600;
const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
/** A token is renewed so long before its end, in milliseconds. */
const RENEW_BEFORE_MS = 15_000;
/** AWS advises 5 s of its two minutes. */
const LOOK_EVERY_MS = 2_000;
const LOOK_FOR_ADVICE_EVERY_MS = 30_000;
const META = "/latest/meta-data/";

/** The instance metadata service of EC2, version 2. */
export class Aws implements Cloud {
	private readonly place: string;
	private readonly tell: TellChanges;
	private readonly ends: PollLoop;
	private readonly advice: PollLoop;
	private token: { readonly text: string; readonly until: number } | undefined;
	private isSpot = false;

	constructor(private readonly context: CloudContext) {
		const named = context.environment[AWS_VARIABLE] || PLACE;
		this.place = named.replace(/\/+$/, "");
		this.tell = new TellChanges({ source: "aws" }, context.listener);
		this.ends = new PollLoop({
			...context,
			name: "AWS",
			everyMs: LOOK_EVERY_MS,
			look: () => this.lookForEnd(),
		});
		this.advice = new PollLoop({
			...context,
			name: "AWS's recommendations",
			everyMs: LOOK_FOR_ADVICE_EVERY_MS,
			look: () => this.lookForAdvice(),
		});
	}

	async identify(): Promise<void> {
		await this.freshToken();
	}

	start(): void {
		this.ends.start();
		this.advice.start();
	}

	close(): void {
		this.ends.close();
		this.advice.close();
	}

	private async lookForEnd(): Promise<void> {
		if (!this.isSpot) {
			const isOnDemand =
				(await this.text("instance-life-cycle")) === "on-demand";
			// Only spot instances are interrupted: on others nothing need wake the process.
			if (isOnDemand) return this.ends.close();
			this.isSpot = true;
		}
		const end = await this.read("spot/instance-action", readSpotAction);
		this.tell.notice(end, "the spot interruption is no longer announced");
	}

	private async lookForAdvice(): Promise<void> {
		const rebalance = await this.read(
			"events/recommendations/rebalance",
			readRebalance,
		);
		const maintenance = await this.read(
			"events/maintenance/scheduled",
			readMaintenance,
		);
		this.tell.advice(
			[...(rebalance === undefined ? [] : [rebalance]), ...(maintenance ?? [])],
			"AWS no longer recommends it",
		);
	}

	/** Undefined: there is nothing at this path. Rejects if the answer cannot be read. */
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
		let { ask, answer } = await this.get(path);
		if (answer.status === 401) {
			this.token = undefined;
			({ ask, answer } = await this.get(path));
		}
		if (answer.status === 404) return undefined;
		if (answer.status !== 200) throw odd(ask, answer);
		return answer.body;
	}

	private async get(path: string): Promise<{ ask: Ask; answer: Answer }> {
		const { clock, transport } = this.context;
		const token = this.token;
		const isFresh = token !== undefined && clock.now() < token.until;
		const text = isFresh ? token.text : await this.freshToken();
		const ask: Ask = {
			method: "GET",
			url: `${this.place}${META}${path}`,
			headers: { "x-aws-ec2-metadata-token": text },
			timeoutMs: ANSWER_WITHIN_MS,
		};
		return { ask, answer: await transport.exchange(ask) };
	}

	private async freshToken(): Promise<string> {
		const { clock, transport } = this.context;
		const ask: Ask = {
			method: "PUT",
			url: `${this.place}/latest/api/token`,
			headers: { [TTL_HEADER]: String(TOKEN_SECONDS) },
			timeoutMs: ANSWER_WITHIN_MS,
		};
		const askedAt = clock.now();
		const answer = await transport.exchange(ask);
		const text = answer.body.trim();
		if (answer.status !== 200) throw odd(ask, answer);
		// It becomes a header.
		if (!/^[\w+/=.~-]{1,1024}$/.test(text)) {
			throw new Error(`${ask.url} answers without a token`);
		}
		const lifeMs = readTokenLifeMs(answer.headers[TTL_HEADER], TOKEN_SECONDS);
		this.token = { text, until: askedAt + lifeMs - RENEW_BEFORE_MS };
		return text;
	}
}
