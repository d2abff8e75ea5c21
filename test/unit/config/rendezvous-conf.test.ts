import { describe, expect, test } from "vitest";
import {
	parseRendezvousConf,
	type RendezvousSettings,
} from "../../../src/config/parse/rendezvous.js";
import {
	completeRendezvous,
	timeOutProblem,
	timeOutWarnings,
} from "../../../src/config/rendezvous-times.js";
import { outcome } from "./outcome.js";

describe("--rdzv-conf", () => {
	test.each([
		[
			"last_call_timeout=500ms, settle_timeout=1m",
			{ lastCallTimeoutMs: 500, settleTimeoutMs: 60_000 },
		],
		["leaseTtl=5", { leaseTtlMs: 5_000 }],
		[
			" join_timeout = 60 , lease_ttl='5',username=\"u\"",
			{ joinTimeoutMs: 60_000, leaseTtlMs: 5_000, username: "u" },
		],
		[
			"username=u,password_file=/a=b,cacert=c,cert=d,key=e",
			{
				username: "u",
				passwordFile: "/a=b",
				caCert: "c",
				cert: "d",
				key: "e",
			},
		],
	])("%s", (text, settings) => {
		expect(outcome(parseRendezvousConf(text, "flag"))).toEqual(settings);
	});

	test.each([
		[
			"join_timeot=1",
			expect.stringMatching(/is unknown; .*did you mean join_timeout\?$/),
		],
		["constructor=1", expect.stringContaining("is unknown")],
		["join_timeout=", "join_timeout has no value; use join_timeout=VALUE"],
		[
			"join_timeout=x",
			expect.stringContaining('join_timeout: "x" is not a duration'),
		],
		[
			"join_timeout=1,join_timeout=2",
			"join_timeout is given twice; give it once",
		],
		[
			"lease_ttl=1.5",
			'lease_ttl: "1.5" is not valid; use whole seconds, at least 1',
		],
		["a=1,b=2", expect.stringMatching(/"a" is unknown.* \/ .*"b" is unknown/)],
	])("not %s", (text, words) => {
		expect(outcome(parseRendezvousConf(text, "flag"))).toEqual(words);
	});

	test("a password is refused and not repeated", () => {
		const words = outcome(parseRendezvousConf("password=hunter2", "flag"));
		expect(words).toContain("password_file");
		expect(words).not.toContain("hunter2");
	});
});

describe("--rdzv-conf of a line for torchrun", () => {
	test.each<[string, RendezvousSettings]>([
		["timeout=900", { timeoutMs: 900_000 }],
		["is_host=Yes", { isHost: true }],
		["keep_alive_max_attempt=4", { leaseTtlMs: 20_000 }],
		["keep_alive_interval=1,keep_alive_max_attempt=5", { leaseTtlMs: 5_000 }],
		["keep_alive_max_attempt=0", { leaseTtlMs: 1_000 }],
		["keep_alive_interval=9,lease_ttl=4", { leaseTtlMs: 4_000 }],
		[
			"protocol=http,ca_cert=a,ssl_cert=b,ssl_cert_key=c",
			{ caCert: "a", cert: "b", key: "c", ignored: ["protocol"] },
		],
		[
			"join_timeout=300,close_timeout=5,read_timeout=60,heartbeat_timeout=5",
			{
				joinTimeoutMs: 300_000,
				ignored: ["close_timeout", "read_timeout", "heartbeat_timeout"],
			},
		],
		[
			"store_type=tcp,etcd_prefix=/torchelastic/p2p,rank=0",
			{ ignored: ["store_type", "etcd_prefix", "rank"] },
		],
	])("%s", (text, settings) => {
		expect(outcome(parseRendezvousConf(text, "flag"))).toEqual(settings);
	});

	test.each([
		["store_type=file", "nodes meet at etcd"],
		["protocol=https", "write https:// before each endpoint"],
		["local_addr=10.0.0.1", 'key "local_addr" is unknown'],
	])("not %s", (text, words) => {
		expect(outcome(parseRendezvousConf(text, "flag"))).toContain(words);
	});
});

describe("time-outs", () => {
	const nodes = { shutdownTimeoutMs: 30_000, maxNodes: 4 };

	test.each([
		[{ timeoutMs: 900_000 }, 900_000],
		[{ timeoutMs: 900_000, joinTimeoutMs: 300_000 }, 300_000],
		// What the other time-outs need.
		[{ timeoutMs: 30_000 }, 65_001],
	])("torchrun's timeout: %o waits %d ms", (given, joinTimeoutMs) => {
		const completed = completeRendezvous(given, nodes);
		expect(completed.joinTimeoutMs).toBe(joinTimeoutMs);
		expect(timeOutProblem(completed)).toBeUndefined();
	});

	test.each([
		[{ joinTimeoutMs: 60_000 }, undefined],
		[
			{ joinTimeoutMs: 65_000, lastCallTimeoutMs: 30_000 },
			expect.stringContaining(
				"join_timeout (65s) must be longer than settle_timeout (35s",
			),
		],
		[
			{ settleTimeoutMs: 1_500, joinTimeoutMs: 2_500 },
			expect.stringContaining("settle_timeout (1500ms"),
		],
	])("order of %j", (given, problem) => {
		expect(timeOutProblem(completeRendezvous(given, nodes))).toEqual(problem);
	});

	test("a short join time-out, as torchrun takes it, shortens a last call that is not set", () => {
		const short = completeRendezvous({ joinTimeoutMs: 60_000 }, nodes);
		expect(short.lastCallTimeoutMs).toBe(24_999);
		expect(
			completeRendezvous({ joinTimeoutMs: 66_000 }, nodes).lastCallTimeoutMs,
		).toBe(30_000);
	});

	test("A6 a node that is cut off is waited for until its lease has ended", () => {
		const { settleTimeoutMs } = completeRendezvous(
			{ leaseTtlMs: 40_000 },
			nodes,
		);
		expect(settleTimeoutMs).toBe(40_000);
	});

	test("on one node a long shutdown time-out lengthens the default of the join time-out", () => {
		const long = { shutdownTimeoutMs: 3_600_000 };
		const one = completeRendezvous({}, { ...long, maxNodes: 1 });
		const two = completeRendezvous({}, { ...long, maxNodes: 2 });
		expect(timeOutProblem(one)).toBeUndefined();
		expect(timeOutProblem(two)).toBeDefined();
	});

	test.each<[RendezvousSettings, number, readonly RegExp[]]>([
		[{ leaseTtlMs: 2_000 }, 30_000, [/^lease_ttl \(2s\) is shorter than 3s/]],
		[{ leaseTtlMs: 3_000 }, 30_000, []],
		[
			{ settleTimeoutMs: 30_000 },
			30_000,
			[
				/^settle_timeout \(30s\) is not longer than --shutdown-timeout \(30s\) by 1s/,
			],
		],
		[{ settleTimeoutMs: 31_000 }, 30_000, []],
		[{ leaseTtlMs: 40_000 }, 30_000, []],
		[
			{ settleTimeoutMs: 39_999, leaseTtlMs: 40_000 },
			30_000,
			[/^settle_timeout \(39999ms\) is shorter than lease_ttl \(40s\)/],
		],
	])("%j with a shutdown time-out of %i ms warns of %j", (given, shutdownTimeoutMs, words) => {
		const config = completeRendezvous(given, { ...nodes, shutdownTimeoutMs });
		expect(timeOutWarnings(config, shutdownTimeoutMs)).toEqual(
			words.map((pattern) => expect.stringMatching(pattern)),
		);
	});
});
