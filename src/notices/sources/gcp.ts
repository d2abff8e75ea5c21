import { ANSWER_WITHIN_MS, type Answer, type Ask, odd } from "./exchange.js";
import { PollLoop } from "./poll-loop.js";
import {
	type GcpReading,
	readMaintenanceEvent,
	readPreempted,
	readUpcoming,
} from "./read-gcp.js";
import type { Cloud, CloudContext } from "./source.js";
import { TellChanges } from "./tell-changes.js";

export const GCP_VARIABLE = "GCE_METADATA_HOST";
/** By its address: no name server is asked. */
const PLACE = "169.254.169.254";
const FLAVOR = "metadata-flavor";
/** How long the service may keep a question before it answers that nothing has changed, in seconds. */
const KEEP_SECONDS = 60;
const KEPT_WITHIN_MS = KEEP_SECONDS * 1_000 + 10_000;
/** A service that does not keep questions is asked so often. */
const LOOK_EVERY_MS = 1_000;
const LOOK_FOR_UPCOMING_EVERY_MS = 60_000;
const NO_UPCOMING_YET = /no notifications have been received yet/;

interface Value {
	readonly path: string;
	readonly name: string;
	readonly parse: (body: string, wallTime: number) => GcpReading | undefined;
	readonly withdrawn: string;
}

/** Their changes are waited for. */
const VALUES: readonly Value[] = [
	{
		path: "instance/preempted",
		name: "Google Cloud",
		parse: readPreempted,
		withdrawn: "the preemption is no longer announced",
	},
	{
		path: "instance/maintenance-event",
		name: "Google Cloud's maintenance",
		parse: readMaintenanceEvent,
		withdrawn: "the maintenance is over",
	},
];

/** The metadata server of Google Cloud. */
export class Gcp implements Cloud {
	private readonly base: string;
	private readonly loops: readonly PollLoop[];
	private readonly upcoming: TellChanges;

	constructor(private readonly context: CloudContext) {
		const host = context.environment[GCP_VARIABLE] || PLACE;
		const place = /^https?:\/\//.test(host) ? host : `http://${host}`;
		this.base = `${place.replace(/\/+$/, "")}/computeMetadata/v1/`;
		this.upcoming = new TellChanges(
			{ source: "gcp", origin: "upcoming" },
			context.listener,
		);
		this.loops = [
			...VALUES.map((value) => this.loopOf(value)),
			new PollLoop({
				...context,
				name: "Google Cloud's upcoming maintenance",
				everyMs: LOOK_FOR_UPCOMING_EVERY_MS,
				look: () => this.lookForUpcoming(),
			}),
		];
	}

	async identify(): Promise<void> {
		const { ask, answer } = await this.get("instance/preempted");
		if (answer.headers[FLAVOR] === "Google") return;
		throw new Error(`${ask.url} is not a metadata server of Google Cloud`);
	}

	start(): void {
		for (const loop of this.loops) loop.start();
	}

	close(): void {
		for (const loop of this.loops) loop.close();
	}

	private loopOf({ path, name, parse, withdrawn }: Value): PollLoop {
		const { clock } = this.context;
		const from = { source: "gcp", origin: path } as const;
		const tell = new TellChanges(from, this.context.listener);
		let etag: string | undefined;
		let body: string | undefined;
		const look = async () => {
			const wait = `?wait_for_change=true&timeout_sec=${KEEP_SECONDS}&last_etag=${encodeURIComponent(etag ?? "")}`;
			const { ask, answer } =
				etag === undefined
					? await this.get(path)
					: await this.get(path + wait, KEPT_WITHIN_MS);
			const read = parse(answer.body, clock.wallTime());
			if (read === undefined) {
				throw new Error(`${ask.url} answers with something unexpected`);
			}
			etag = answer.headers.etag;
			// A value that was seen before has no other deadline now.
			if (answer.body === body) return;
			body = answer.body;
			tell.notice(read.notice ?? undefined, withdrawn);
			tell.advice(read.advice === null ? [] : [read.advice], withdrawn);
		};
		return new PollLoop({
			...this.context,
			...{ name, look },
			everyMs: LOOK_EVERY_MS,
		});
	}

	private async lookForUpcoming(): Promise<void> {
		const { ask, answer } = await this.ask(
			"instance/upcoming-maintenance?alt=json",
		);
		// Most machines never have one.
		if (answer.status === 404 || NO_UPCOMING_YET.test(answer.body)) return;
		if (answer.status !== 200) throw odd(ask, answer);
		const read = readUpcoming(answer.body);
		if (read === undefined) {
			throw new Error(`${ask.url} answers with something unexpected`);
		}
		this.upcoming.advice(
			read.advice === null ? [] : [read.advice],
			"no maintenance is upcoming",
		);
	}

	private async get(path: string, timeoutMs?: number) {
		const { ask, answer } = await this.ask(path, timeoutMs);
		if (answer.status !== 200) throw odd(ask, answer);
		return { ask, answer };
	}

	private async ask(
		path: string,
		timeoutMs = ANSWER_WITHIN_MS,
	): Promise<{ ask: Ask; answer: Answer }> {
		const ask: Ask = {
			method: "GET",
			url: this.base + path,
			headers: { [FLAVOR]: "Google" },
			timeoutMs,
		};
		return { ask, answer: await this.context.transport.exchange(ask) };
	}
}
