import type { Clock } from "../../base/clock.js";
import { expectSuccess, MetadataService, unexpectedBody } from "./http.js";
import { objectIn, textIn, timeIn, wordIn } from "./parse-json.js";
import type { Cloud, CloudSource, PolledValue, Reading } from "./source.js";

const FLAVOR = "metadata-flavor";
const HEADERS = { [FLAVOR]: "Google" };

export const GCP: CloudSource = {
	name: "Google Cloud",
	variable: "GCE_METADATA_HOST",
	// By its address: no name server is needed.
	place: "169.254.169.254",
	isIn: ({ sys_vendor }) => sys_vendor === "Google",
	open: (transport, host, clock) => {
		const place = /^https?:\/\//.test(host) ? host : `http://${host}`;
		return new Gcp(new MetadataService(transport, place), clock);
	},
};

/** How long the service may keep a request before it answers that nothing has changed, in seconds. */
const KEEP_SECONDS = 60;
const KEPT_WITHIN_MS = KEEP_SECONDS * 1_000 + 10_000;
const NO_UPCOMING_YET = /no notifications have been received yet/;

class Gcp implements Cloud {
	readonly values: readonly PolledValue[] = [
		{
			name: "Google Cloud",
			source: "gcp",
			origin: "instance/preempted",
			// A service that does not keep requests is polled so often.
			everyMs: 1_000,
			withdrawn: "the preemption is no longer announced",
			poll: this.awaitChange("instance/preempted", readPreempted),
		},
		{
			name: "Google Cloud's maintenance",
			source: "gcp",
			origin: "instance/maintenance-event",
			everyMs: 1_000,
			withdrawn: "the maintenance is over",
			poll: this.awaitChange(
				"instance/maintenance-event",
				readMaintenanceEvent,
			),
		},
		{
			name: "Google Cloud's upcoming maintenance",
			source: "gcp",
			origin: "upcoming",
			everyMs: 60_000,
			withdrawn: "no maintenance is upcoming",
			poll: () => this.readUpcoming(),
		},
	];

	constructor(
		private readonly service: MetadataService,
		private readonly clock: Pick<Clock, "wallTime">,
	) {}

	async find(): Promise<void> {
		const { url, response } = await this.get("instance/preempted");
		if (response.headers[FLAVOR] === "Google") return;
		throw new Error(`${url} is not a metadata server of Google Cloud`);
	}

	/** The first request is answered at once, each later one when the value has changed. */
	private awaitChange(
		path: string,
		parse: (body: string, wallTime: number) => Reading | undefined,
	): PolledValue["poll"] {
		let etag: string | undefined;
		let body: string | undefined;
		return async () => {
			const wait = `?wait_for_change=true&timeout_sec=${KEEP_SECONDS}&last_etag=${encodeURIComponent(etag ?? "")}`;
			const { url, response } =
				etag === undefined
					? await this.get(path)
					: await this.get(path + wait, KEPT_WITHIN_MS);
			const reading = parse(response.body, this.clock.wallTime());
			if (reading === undefined) throw unexpectedBody(url);
			etag = response.headers.etag;
			// A value that was seen before has no other deadline now.
			if (response.body === body) return "unchanged";
			body = response.body;
			return reading;
		};
	}

	private async readUpcoming(): Promise<Reading | "unchanged"> {
		const path = "instance/upcoming-maintenance?alt=json";
		const exchange = await this.fetch(path);
		const { url, response } = exchange;
		// Most machines never have one.
		if (response.status === 404 || NO_UPCOMING_YET.test(response.body)) {
			return "unchanged";
		}
		expectSuccess(exchange);
		const reading = readUpcoming(response.body);
		if (reading === undefined) throw unexpectedBody(url);
		return reading;
	}

	private async get(path: string, timeoutMs?: number) {
		return expectSuccess(await this.fetch(path, timeoutMs));
	}

	private fetch(path: string, timeoutMs?: number) {
		const about = timeoutMs === undefined ? {} : { timeoutMs };
		return this.service.fetch(`/computeMetadata/v1/${path}`, HEADERS, about);
	}
}

/** What Google gives a spot machine, and one that is ended for maintenance, in milliseconds. */
const PREEMPTED_MS = 30_000;
const MAINTENANCE_MS = 60_000;

const NOTHING: Reading = {};

/**
 * `instance/preempted`; undefined if it is no such answer.
 * @param wallTime when it was seen, in milliseconds since 1970
 */
export function readPreempted(
	body: string,
	wallTime: number,
): Reading | undefined {
	const text = body.trim();
	if (text === "FALSE") return NOTHING;
	if (text !== "TRUE") return undefined;
	return {
		notice: {
			source: "gcp",
			reason: "preempted",
			deadline: wallTime + PREEMPTED_MS,
		},
	};
}

/**
 * `instance/maintenance-event`; undefined if it is no such answer.
 * @param wallTime when it was seen, in milliseconds since 1970
 */
export function readMaintenanceEvent(
	body: string,
	wallTime: number,
): Reading | undefined {
	const deadline = wallTime + MAINTENANCE_MS;
	switch (body.trim()) {
		case "NONE":
			return NOTHING;
		case "TERMINATE_ON_HOST_MAINTENANCE": {
			const reason = "the machine is stopped for maintenance of its host";
			return { notice: { source: "gcp", reason, deadline } };
		}
		case "MIGRATE_ON_HOST_MAINTENANCE": {
			const reason = "the machine moves to another host";
			return { advice: [{ source: "gcp", reason, deadline }] };
		}
		default:
			return undefined;
	}
}

/** `instance/upcoming-maintenance`; undefined if it is no such answer. */
export function readUpcoming(body: string): Reading | undefined {
	if (body.trim() === "NONE") return NOTHING;
	const answer = objectIn(body);
	const status = answer?.maintenance_status ?? answer?.maintenanceStatus;
	const type = textIn(answer?.type);
	const begins =
		answer?.window_start_time ?? answer?.windowStartTime ?? answer?.startTime;
	const isIt = type ?? textIn(status) ?? textIn(begins);
	if (answer === undefined || isIt === undefined) return undefined;
	const reason = `upcoming maintenance${type === undefined ? "" : `: ${wordIn(type).toLowerCase()}`}`;
	return {
		advice: [{ source: "gcp", reason, deadline: timeIn(begins) }],
	};
}
