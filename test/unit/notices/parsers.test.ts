import { describe, expect, test } from "vitest";
import {
	readMaintenance,
	readRebalance,
	readSpotAction,
	readTokenLifeMs,
} from "../../../src/notices/sources/aws.js";
import {
	firstEnd,
	readOwnName,
	readScheduledEvents,
} from "../../../src/notices/sources/azure.js";
import { readNoticeText } from "../../../src/notices/sources/file.js";
import {
	readMaintenanceEvent,
	readPreempted,
	readUpcoming,
} from "../../../src/notices/sources/gcp.js";
import { timeIn } from "../../../src/notices/sources/parse-json.js";
import { signalNotice } from "../../../src/notices/sources/signal.js";
import {
	readSlurmJob,
	readSqueueEnd,
	type SlurmJob,
} from "../../../src/notices/sources/slurm.js";
import type { Reading } from "../../../src/notices/sources/source.js";

const NOW = Date.parse("2026-11-26T00:00:00Z");
/** What no parser takes for an answer. */
const ODD = ["", "null", "[", "<html>not found</html>", "17", '"TRUE"', "{}"];

describe("P1 AWS", () => {
	test.each([
		["terminate", "2026-01-01T00:00:00Z", 1_767_225_600_000],
		["hibernate", "soon", undefined],
	])("spot/instance-action: %s at %s", (action, time, deadline) => {
		expect(readSpotAction(JSON.stringify({ action, time }))).toEqual({
			source: "aws",
			reason: `spot interruption: ${action}`,
			deadline,
		});
	});

	test.each([...ODD, '{"action":3}', "[]"])("no instance-action: %j", (body) =>
		expect(readSpotAction(body)).toBeUndefined());

	test("a rebalance recommendation", () => {
		const body = '{"noticeTime":"2026-01-01T00:00:00Z"}';
		expect(readRebalance(body)).toMatchObject({ deadline: undefined });
		for (const odd of ODD) expect(readRebalance(odd)).toBeUndefined();
	});

	test("maintenance, without what is over or odd", () => {
		const event = (Code: unknown, State: string) => ({
			...{ NotBefore: "21 Jan 2019 09:00:43 GMT", Code, State },
			Description: "scheduled\nreboot",
		});
		const events = [
			event("system-reboot", "active"),
			event("instance-stop", "completed"),
			event("instance-retirement", "canceled"),
			...[event(7, "active"), null, "text"],
		];
		expect(readMaintenance(JSON.stringify(events))).toEqual([
			{
				source: "aws",
				reason: "scheduled maintenance: system-reboot, scheduled reboot",
				deadline: Date.parse("2019-01-21T09:00:43Z"),
			},
		]);
		expect(readMaintenance("[]")).toEqual([]);
		for (const odd of ODD) expect(readMaintenance(odd)).toBeUndefined();
	});

	test.each([
		["60", 60_000],
		["99999", 3_600_000],
		[undefined, 3_600_000],
	])("a token of %j s lives %d ms", (header, lifeMs) =>
		expect(readTokenLifeMs(header, 3_600)).toBe(lifeMs));
});

test.each([
	["2026-11-26T00:00:00Z", NOW],
	["2026-11-26T01:00:00.000+01:00", NOW],
	["Thu, 26 Nov 2026 00:00:00 GMT", NOW],
	["26 Nov 2026 00:00:00 GMT", NOW],
	// Date.parse alone takes these for times of the past, or of this machine's zone.
	["2026-11-26T00:00:00", undefined],
	["in 7 minutes", undefined],
	["7", undefined],
	["0001-01-01T00:00:00Z", undefined],
	[17, undefined],
])("P1 a time of a metadata service: %j", (value, time) =>
	expect(timeIn(value)).toBe(time));

describe("P1 Google Cloud", () => {
	const whole = (reading: Reading | undefined) =>
		reading && { notice: null, advice: [], ...reading };

	test.each([
		["TRUE\n", { notice: { deadline: NOW + 30_000 }, advice: [] }],
		["FALSE", { notice: null, advice: [] }],
	])("preempted: %j", (body, reading) =>
		expect(whole(readPreempted(body, NOW))).toMatchObject(reading));

	test.each([
		["NONE", { notice: null, advice: [] }],
		[
			"MIGRATE_ON_HOST_MAINTENANCE",
			{ notice: null, advice: [{ deadline: NOW + 60_000 }] },
		],
		[
			"TERMINATE_ON_HOST_MAINTENANCE",
			{ notice: { deadline: NOW + 60_000 }, advice: [] },
		],
	])("maintenance-event: %s", (body, reading) =>
		expect(whole(readMaintenanceEvent(body, NOW))).toMatchObject(reading));

	test.each([
		['{"type":"SCHEDULED","window_start_time":"2026-11-26T00:00:00Z"}', NOW],
		['{"type":"UNSCHEDULED","windowStartTime":"2026-11-26T00:00:00Z"}', NOW],
		['{"maintenance_status":"PENDING","startTime":"x"}', undefined],
	])("upcoming-maintenance: %s", (body, deadline) =>
		expect(whole(readUpcoming(body))).toMatchObject({
			notice: null,
			advice: [{ source: "gcp", deadline }],
		}));

	test.each(ODD)("no answer: %j", (body) => {
		expect(readPreempted(body, NOW)).toBeUndefined();
		expect(readMaintenanceEvent(body, NOW)).toBeUndefined();
		expect(readUpcoming(body)).toBeUndefined();
	});
});

describe("P1 Azure", () => {
	const document = (...Events: unknown[]) =>
		JSON.stringify({ DocumentIncarnation: 5, Events });
	const event = (change: object) => ({
		EventId: "id-1",
		EventType: "Preempt",
		ResourceType: "VirtualMachine",
		Resources: ["gpu_3"],
		EventStatus: "Scheduled",
		NotBefore: "Thu, 26 Nov 2026 00:00:30 GMT",
		Description: "",
		EventSource: "Platform",
		DurationInSeconds: -1,
		...change,
	});
	const read = (change: object) =>
		readScheduledEvents(document(event(change)), "GPU_3", NOW)?.events;

	test.each([
		["Preempt", {}, { isEnd: true, mayGoAhead: true, at: NOW + 30_000 }],
		[
			"Terminate",
			{ Resources: ["other", "gpu_3"] },
			{ isEnd: true, mayGoAhead: false, at: NOW + 30_000 },
		],
		[
			"Reboot",
			{ EventStatus: "Started", NotBefore: "" },
			{ isEnd: true, mayGoAhead: false, at: NOW },
		],
		["Freeze", {}, { isEnd: false, mayGoAhead: false, at: NOW + 30_000 }],
		[
			"Reboot",
			{ DurationInSeconds: 0 },
			{ isEnd: false, mayGoAhead: false, at: NOW + 30_000 },
		],
		["Preempt", { NotBefore: 3 }, { isEnd: true, at: undefined }],
	])("%s %j", (EventType, change, { at, ...rest }) =>
		expect(read({ EventType, ...change })).toMatchObject([
			{ id: "id-1", type: EventType, notice: { deadline: at }, ...rest },
		]));

	test.each([
		{ Resources: ["gpu_30"] },
		{ Resources: "gpu_3" },
		{ EventId: 3 },
	])("is not this machine's, or no event: %j", (change) =>
		expect(read(change)).toEqual([]));

	test("the first end counts, a pause does not", () => {
		const events = readScheduledEvents(
			document(
				event({ EventId: "pause", EventType: "Freeze" }),
				event({ EventId: "late", NotBefore: "Thu, 26 Nov 2026 09:00:00 GMT" }),
				event({ EventId: "early" }),
			),
			...(["gpu_3", NOW] as const),
		)?.events;
		expect(firstEnd(events ?? [])?.id).toBe("early");
		const [, , early] = events ?? [];
		if (early === undefined) throw new Error("three events");
		const notice = { ...early.notice, deadline: undefined };
		const unknown = { ...early, id: "when", notice };
		expect(firstEnd([early, unknown])?.id).toBe("when");
	});

	test.each([
		...ODD,
		'{"DocumentIncarnation":1}',
		'{"Events":[]}',
	])("no document: %j", (body) =>
		expect(readScheduledEvents(body, "a", NOW)).toBeUndefined());

	test("its own name", () => {
		expect(readOwnName('{"compute":{"name":"gpu_3"}}')).toBe("gpu_3");
		for (const odd of ODD) expect(readOwnName(odd)).toBeUndefined();
	});
});

test.each([
	["", undefined, undefined],
	["30", NOW + 30_000, undefined],
	["1.5\nold disk\n", NOW + 1_500, "old disk"],
	["2026-11-26T01:00:00Z\n", NOW + 3_600_000, undefined],
	["the disk is old", undefined, "the disk is old"],
	["2026-99-99\u0007", undefined, "2026-99-99"],
	["2026-11-26 rack 5 is hot", undefined, "2026-11-26 rack 5 is hot"],
])("P1 a notice's file: %j", (text, deadline, reason) =>
	expect(readNoticeText(text, NOW)).toEqual({ deadline, reason }));

function slurmJob(change: Partial<SlurmJob> = {}): SlurmJob {
	return {
		...{ id: "7", queuedAs: "7", endsAt: undefined, restarts: 0 },
		...change,
	};
}

test.each([
	[{}, undefined],
	[{ SLURM_JOB_ID: "7; rm" }, undefined],
	[{ SLURM_JOB_ID: "7" }, slurmJob()],
	// The number of the whole array may be that of one of its jobs.
	[
		{
			SLURM_JOB_ID: "7",
			SLURM_ARRAY_JOB_ID: "7",
			SLURM_ARRAY_TASK_ID: "3",
		},
		slurmJob({ queuedAs: "7_3" }),
	],
	[
		{
			SLURM_JOB_ID: "7",
			SLURM_ARRAY_JOB_ID: "7",
			SLURM_ARRAY_TASK_ID: "-1 ",
		},
		slurmJob(),
	],
	[
		{
			SLURM_JOB_ID: "7",
			SLURM_JOB_END_TIME: "1795651200",
			SLURM_RESTART_COUNT: "2",
		},
		slurmJob({ endsAt: NOW, restarts: 2 }),
	],
])("P14 Slurm's environment %j", (environment, job) =>
	expect(readSlurmJob(environment)).toEqual(job));

test.each([
	["2026-11-26T03:00:00\n", new Date(2026, 10, 26, 3).getTime()],
	["NONE", undefined],
	["2026-99-99T03:00:00", undefined],
])("P14 squeue's %j", (text, end) => expect(readSqueueEnd(text)).toBe(end));

test.each([
	["SIGTERM", 30_000, { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "kubernetes"],
	["SIGTERM", 30_000, { SLURM_JOB_ID: "7" }, "slurm"],
	["SIGTERM", 30_000, {}, "command"],
	["SIGTERM", undefined, { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, undefined],
])("P1 %s with a grace of %j ms in %j is a notice of %s", (signal, graceMs, environment, source) => {
	const notice = signalNotice(signal, graceMs, environment, NOW);
	expect(notice?.source).toBe(source);
	if (notice) expect(notice.deadline).toBe(NOW + 30_000);
});
