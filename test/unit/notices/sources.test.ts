import {
	mkdtempSync,
	renameSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { NoticesConfig } from "../../../src/config/agent-config.js";
import type { NoticeOrigin } from "../../../src/model/notice.js";
import {
	hintsOf,
	type NoticeSources,
	type NoticeSourcesOptions,
	openNoticeSources,
} from "../../../src/notices/open-notice-sources.js";
import { Changes } from "../../../src/notices/sources/poller.js";
import { drainAt } from "../../../src/notices/sources/timed-notice.js";
import {
	type Script,
	ScriptedTransport,
} from "../../helpers/scripted-metadata.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const NOTHING = { sys_vendor: "", bios_version: "", chassis_asset_tag: "" };
const NOT_FOUND = { status: 404 };

let clock: VirtualClock;
let opened: NoticeSources[];
beforeEach(() => {
	clock = new VirtualClock(Date.parse("2026-11-26T00:00:00Z"));
	opened = [];
});
afterEach(() => {
	for (const sources of opened) sources.close();
});

/** Opens sources, and keeps what they say and log. */
function listen(
	sources: NoticesConfig["sources"],
	script: Script,
	more: Partial<NoticeSourcesOptions> = {},
	lifetime: Partial<NoticesConfig> = {},
	onWithdrawn: (what: NoticeOrigin) => void = () => {},
) {
	const heard: string[] = [];
	const logged: string[] = [];
	const transport = new ScriptedTransport(script);
	const log = {
		info: (line: string) => void logged.push(`info ${line}`),
		warn: (line: string) => void logged.push(`warn ${line}`),
	};
	const seconds = (deadline: number | undefined) =>
		deadline === undefined ? "?" : (deadline - clock.wallTime()) / 1_000;
	const all = openNoticeSources(
		{
			...{ clock, log, transport, environment: {} },
			startedAt: clock.wallTime(),
			readFirmware: async () => NOTHING,
			notices: {
				sources,
				maxLifetimeMs: undefined,
				drainBeforeMs: 60_000,
				...lifetime,
			},
			...more,
		},
		{
			noticed: ({ source, reason, deadline }) =>
				heard.push(`${source}: ${reason} in ${seconds(deadline)}`),
			advised: ({ source, reason, deadline }) =>
				heard.push(`advice ${source}: ${reason} in ${seconds(deadline)}`),
			withdrawn: (what, reason) => {
				heard.push(`${what.source} not: ${reason}`);
				onWithdrawn(what);
			},
		},
	);
	opened.push(all);
	return { heard, logged, transport, all };
}

describe("P1 AWS", () => {
	const quiet: Script = ({ method, url }) => {
		if (method === "PUT") return "token";
		return url.endsWith("instance-life-cycle") ? "spot" : NOT_FOUND;
	};

	test("tells of an interruption once, within two seconds", async () => {
		const { heard, transport, logged } = listen(["aws"], quiet);
		await clock.advance(3_000);
		expect(heard).toEqual([]);
		const time = "2026-11-26T00:02:05Z";
		transport.script = (request) =>
			request.url.endsWith("spot/instance-action")
				? JSON.stringify({ action: "terminate", time })
				: quiet(request);
		await clock.advance(2_000);
		await clock.advance(20_000);
		expect(heard).toEqual(["aws: spot interruption: terminate in 121"]);
		expect(logged).toEqual([]);
		expect(transport.requests[0]?.headers).toEqual({
			"x-aws-ec2-metadata-token-ttl-seconds": "3600",
		});
		expect(transport.requests[2]?.headers).toEqual({
			"x-aws-ec2-metadata-token": "token",
		});
	});

	test("renews its token before the end, and where it is refused", async () => {
		let tokens = 0;
		let refused = "";
		const { transport, logged } = listen(["aws"], (request) => {
			if (request.method === "PUT") {
				tokens += 1;
				const headers = { "x-aws-ec2-metadata-token-ttl-seconds": "30" };
				return { body: `token-${tokens}`, headers };
			}
			const token = request.headers["x-aws-ec2-metadata-token"] ?? "";
			return token === refused ? { status: 401 } : quiet(request);
		});
		await clock.advance(13_000);
		const before = tokens;
		await clock.advance(4_000);
		expect(tokens).toBe(before + 1);
		refused = `token-${tokens}`;
		await clock.advance(2_000);
		expect(tokens).toBe(before + 2);
		expect(transport.count("token")).toBe(tokens);
		expect(logged).toEqual([]);
	});

	test("recommendations are advice; on demand nothing is interrupted", async () => {
		const { heard, transport } = listen(["aws"], (request) => {
			if (request.url.endsWith("instance-life-cycle")) return "on-demand";
			if (request.url.endsWith("rebalance")) {
				return '{"noticeTime":"2026-11-26T00:00:00Z"}';
			}
			if (request.url.endsWith("maintenance/scheduled")) {
				return '[{"Code":"instance-retirement","NotBefore":"26 Nov 2026 01:00:00 GMT","State":"active"}]';
			}
			return quiet(request);
		});
		await clock.advance(61_000);
		expect(heard).toEqual([
			"advice aws: rebalance recommendation: a raised risk of a spot interruption in ?",
			"advice aws: scheduled maintenance: instance-retirement in 3600",
		]);
		expect(transport.count("spot/instance-action")).toBe(0);
		// Nothing wakes the process for what cannot come.
		expect((clock.nextAlarm ?? 0) - clock.now()).toBeGreaterThan(20_000);
	});

	test.each([
		["another server", "<html>", "answers with something unexpected"],
	])("%s is said once, and heard again when it is well", async (_, answer, words) => {
		const odd: Script = (request) =>
			request.url.endsWith("spot/instance-action") ? answer : quiet(request);
		const { logged, transport, heard } = listen(["aws"], odd);
		await clock.advance(10_000);
		expect(logged).toEqual([
			expect.stringMatching(
				new RegExp(`^warn notices of AWS cannot be read now, .*${words}`),
			),
		]);
		transport.script = quiet;
		await clock.advance(5_000);
		transport.script = odd;
		await clock.advance(60_000);
		expect(logged.slice(1)).toEqual(["info notices of AWS can be read again"]);
		expect(heard).toEqual([]);
	});
});

describe("P1 Google Cloud", () => {
	test("maintenance: an end is a notice, a move is advice, its end withdraws", async () => {
		let event = "MIGRATE_ON_HOST_MAINTENANCE";
		const { heard } = listen(["gcp"], ({ url }) => {
			if (url.includes("maintenance-event")) return event;
			if (url.includes("upcoming")) {
				return '{"error":"no notifications have been received yet, try again later"}';
			}
			return "FALSE";
		});
		await clock.advance(3_000);
		event = "TERMINATE_ON_HOST_MAINTENANCE";
		await clock.advance(3_000);
		event = "NONE";
		await clock.advance(3_000);
		expect(heard).toEqual([
			"advice gcp: the machine moves to another host in 60",
			"gcp: the machine is stopped for maintenance of its host in 60",
			// The advice is gone, and then the notice.
			"gcp not: the maintenance is over",
			"gcp not: the maintenance is over",
		]);
	});
});

test("P1 Google Cloud: the end of a maintenance withdraws no preemption, and no advice", async () => {
	let maintenance = "TERMINATE_ON_HOST_MAINTENANCE";
	const said: unknown[] = [];
	const { heard } = listen(
		["gcp"],
		({ url }) => {
			if (url.includes("maintenance-event")) return maintenance;
			return url.includes("upcoming") ? NOT_FOUND : "TRUE";
		},
		{},
		{},
		(what) => said.push(what),
	);
	await clock.advance(2_000);
	maintenance = "NONE";
	await clock.advance(2_000);
	expect(heard).toHaveLength(3);
	expect(said).toEqual([
		{ source: "gcp", origin: "instance/maintenance-event" },
	]);
});

describe("P1 Azure", () => {
	const NAME = '{"compute":{"name":"gpu_3"}}';
	const document = (incarnation: number, ...types: string[]) =>
		JSON.stringify({
			DocumentIncarnation: incarnation,
			Events: types.map((EventType) => ({
				EventId: `id-${EventType}`,
				...{ EventType, EventStatus: "Scheduled" },
				Resources: ["gpu_3", ...(EventType === "Terminate" ? ["gpu_4"] : [])],
				NotBefore: "Thu, 26 Nov 2026 00:00:40 GMT",
			})),
		});
	const with_ =
		(body: string): Script =>
		({ url }) =>
			url.includes("/instance") ? NAME : body;

	test("acknowledges its own end only, after it has left", async () => {
		const events = document(2, "Preempt", "Terminate", "Reboot");
		const { transport, all } = listen(["azure"], with_(events));
		await clock.advance(2_000);
		await all.left();
		const posted = transport.requests.filter(({ method }) => method === "POST");
		expect(posted.map(({ body }) => body)).toEqual([
			'{"StartRequests":[{"EventId":"id-Preempt"}]}',
		]);
	});

	test("leaving never rejects, and takes a bounded time", async () => {
		const { transport, all } = listen(["azure"], with_(document(2, "Preempt")));
		await clock.advance(2_000);
		transport.script = () => Promise.reject(new Error("gone"));
		await all.left();
		transport.script = () => new Promise(() => {});
		const left = all.left();
		await clock.advance(3_000);
		await left;
	});
});

describe("P1 which platform", () => {
	const refuse: Script = () => Promise.reject(new Error("ECONNREFUSED"));

	test.each([
		[{}, NOTHING, []],
		[{}, { ...NOTHING, sys_vendor: "Amazon EC2" }, ["aws"]],
		[{}, { ...NOTHING, sys_vendor: "Google" }, ["gcp"]],
		[
			{},
			{ ...NOTHING, chassis_asset_tag: "7783-7084-3265-9085-8269-3286-77" },
			["azure"],
		],
		[
			{ GCE_METADATA_HOST: "127.0.0.1:1" },
			{ ...NOTHING, sys_vendor: "Amazon EC2" },
			["gcp"],
		],
	])("%j and %j: %j", (environment, firmware, clouds) =>
		expect(hintsOf(environment, firmware).map(({ cloud }) => cloud)).toEqual(
			clouds,
		));

	test("off a cloud nobody is asked, and no timer is left", async () => {
		const { transport, logged } = listen("auto", refuse);
		await settle();
		expect(transport.requests).toEqual([]);
		expect(clock.nextAlarm).toBeUndefined();
		expect(logged).toEqual([]);
	});

	test("a server that is not there is asked once", async () => {
		const environment = { ELASTIC_RUN_AZURE_METADATA_URL: "http://[::1]:1/" };
		const { transport, logged } = listen("auto", refuse, { environment });
		await clock.advance(60_000);
		expect(transport.requests.map(({ url }) => url)).toEqual([
			"http://[::1]:1/metadata/instance?api-version=2021-02-01",
		]);
		expect(logged).toEqual([
			"warn notices of Azure cannot be read: ECONNREFUSED",
		]);
		expect(clock.nextAlarm).toBeUndefined();
	});

	test("off", async () => {
		const environment = { GCE_METADATA_HOST: "127.0.0.1:1", SLURM_JOB_ID: "7" };
		const { transport, logged } = listen([], refuse, { environment });
		await clock.advance(60_000);
		expect([transport.requests, logged]).toEqual([[], []]);
	});
});

describe("P9 ends that are known before", () => {
	test.each([
		[{ from: 0, end: 3_600_000, drainBeforeMs: 60_000 }, 3_540_000],
		[{ from: 0, end: 10_000, drainBeforeMs: 60_000 }, 5_000],
		[{ from: 20_000, end: 10_000, drainBeforeMs: 60_000 }, 10_000],
	])("%j is told at %d", (known, at) => expect(drainAt(known)).toBe(at));

	test("a lifetime", async () => {
		const lifetime = { maxLifetimeMs: 600_000 };
		const { heard } = listen([], () => "", {}, lifetime);
		await clock.advance(539_000);
		expect(heard).toEqual([]);
		await clock.advance(1_000);
		expect(heard).toEqual([
			"lifetime: its lifetime of 600 s is nearly over in 60",
		]);
	});

	test.each([
		2, -2,
	])("K10 a wall clock that is set by %d h changes nothing", async (hours) => {
		const wallTime = vi.spyOn(clock, "wallTime");
		const { heard } = listen([], () => "", {}, { maxLifetimeMs: 600_000 });
		await clock.advance(400_000);
		wallTime.mockImplementation(() => clock.now() + hours * 3_600_000);
		await clock.advance(139_000);
		expect(heard).toEqual([]);
		await clock.advance(1_000);
		expect(heard).toEqual([
			"lifetime: its lifetime of 600 s is nearly over in 60",
		]);
	});

	test("P14 the end of a Slurm job, from its environment or from squeue", async () => {
		const end = clock.wallTime() + 100_000;
		const environment = { SLURM_JOB_ID: "7", SLURM_RESTART_COUNT: "2" };
		const told = listen("auto", () => "", {
			environment: { ...environment, SLURM_JOB_END_TIME: String(end / 1_000) },
		});
		const asked = listen(["slurm"], () => "", {
			environment,
			askForEnd: async (id) => (id === "7" ? end : undefined),
		});
		await clock.advance(60_000);
		for (const { heard, logged } of [told, asked]) {
			expect(heard).toEqual(["slurm: Slurm job 7 is at its time limit in 50"]);
			expect(logged).toEqual([
				expect.stringMatching(
					// Half of the time that was left.
					/^info Slurm job 7 \(restart 2 of the job\) ends at .*: this node leaves 50 s before$/,
				),
			]);
		}
	});

	test.each([
		["is over", -1_000, "has passed, and is ignored"],
		[
			"is not known",
			undefined,
			"its end time is not known, so this node does not leave before it",
		],
	])("P14 where a job's end %s nothing follows", async (_, inMs, words) => {
		const { heard, logged } = listen(["slurm"], () => "", {
			environment: { SLURM_JOB_ID: "7" },
			askForEnd: async () =>
				inMs === undefined ? undefined : clock.wallTime() + inMs,
		});
		await clock.advance(60_000);
		expect(heard).toEqual([]);
		expect(logged).toEqual([expect.stringContaining(words)]);
	});
});

describe("P1 file:PATH", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	/** Appears whole: a file that is read while it is written is two notices. */
	const put = (path: string, text: string) => {
		const draft = join(folder, "draft");
		writeFileSync(draft, text);
		// No two have the same time.
		utimesSync(draft, text.length, text.length);
		renameSync(draft, path);
	};

	/** Real files answer in their own time. */
	const passes = async (isIt: () => boolean) => {
		while (!isIt()) {
			await clock.advance(250);
			await new Promise(setImmediate);
		}
	};

	test("two files are two notices, and one is taken back alone", async () => {
		const [one, other] = [join(folder, "one"), join(folder, "other")];
		const said: unknown[] = [];
		const hear = (what: NoticeOrigin) => said.push(what);
		const files = [{ path: one }, { path: other }];
		const { heard } = listen(files, () => "", {}, {}, hear);
		for (const path of [one, other]) put(path, "60");
		await passes(() => heard.length === 2);
		rmSync(one);
		await passes(() => heard.length === 3);
		expect(said).toEqual([{ source: "file", origin: one }]);
	});

	test("appears, changes, and goes", async () => {
		const path = join(folder, "gone");
		const { heard, logged } = listen([{ path }], () => "");
		await clock.advance(1_000);
		put(path, "");
		await passes(() => heard.length === 1);
		expect(heard).toEqual([`file: the file ${path} is there in ?`]);
		put(path, "30\nthe disk is old\n");
		await passes(() => heard.length === 2);
		expect(heard[1]).toMatch(/is there: the disk is old in \d/);
		rmSync(path);
		await passes(() => heard.length === 3);
		expect(heard[2]).toBe(`file not: the file ${path} was removed`);
		expect(logged).toEqual([]);
	});

	test("a directory is a notice that cannot be read", async () => {
		const { heard, logged } = listen([{ path: folder }], () => "");
		await passes(() => heard.length === 1);
		expect(logged).toEqual([expect.stringContaining("cannot be read")]);
	});
});

test("P1 AWS: a recommendation is no notice of the interruption's, and goes by itself", () => {
	const heard: unknown[] = [];
	const changes = new Changes(
		{ source: "aws", withdrawn: "" },
		{
			noticed: ({ origin }) => heard.push(["notice", origin]),
			advised: ({ origin }) => heard.push(["advice", origin]),
			withdrawn: ({ origin }) => heard.push(["gone", origin]),
		},
	);
	const end = { source: "aws", reason: "spot", deadline: 1 } as const;
	const advice = { source: "aws", reason: "reboot", deadline: 9 } as const;
	changes.update({ notice: end });
	changes.update({ notice: end, advice: [advice] });
	changes.update({ notice: end, advice: [advice] });
	changes.update({ notice: end, advice: [{ ...advice, deadline: 8 }] });
	changes.update({ notice: end });
	expect(heard).toEqual([
		["notice", undefined],
		["advice", " advice 9: reboot"],
		["advice", " advice 8: reboot"],
		["gone", " advice 9: reboot"],
		["gone", " advice 8: reboot"],
	]);
});
