import { describe, expect, test } from "vitest";
import { editDistance, nearestName } from "../../../src/base/nearest-name.js";
import type { NoticesConfig } from "../../../src/config/agent-config.js";
import {
	addressOf,
	isLoopback,
	parseEndpoints,
} from "../../../src/config/parse/endpoints.js";
import {
	parseLocalRanks,
	parseLogPrefix,
	parseStreamMap,
	redirectWhatIsShown,
	selectStreams,
} from "../../../src/config/parse/logs.js";
import {
	parseLocalAddress,
	parseNodeRange,
	parseWorkerCount,
} from "../../../src/config/parse/nodes.js";
import {
	parseDeadline,
	parseNotices,
	parseSomeTime,
} from "../../../src/config/parse/notices.js";
import { parseBackend } from "../../../src/config/parse/rendezvous.js";
import { parsePolicy } from "../../../src/config/parse/restarts.js";
import {
	durationInWords,
	oneOf,
	type Parsed,
	parseCount,
	parseDuration,
	parseName,
	parseSwitch,
	parseText,
} from "../../../src/config/parse/scalars.js";
import { parseSignals } from "../../../src/config/parse/signals.js";
import { fitWarnings } from "../../../src/config/resolve-run.js";
import { outcome } from "./outcome.js";

/** Either the value, or a part of what is said of a text that is refused. */
type Row = readonly [text: string, expected: unknown];

function table(
	name: string,
	parse: (text: string) => Parsed<unknown>,
	good: readonly Row[],
	bad: readonly (readonly [text: string, words: string])[],
): void {
	describe(name, () => {
		test.each(good)("%j is %j", (text, value) => {
			expect(parse(text)).toEqual({ value });
		});
		test.each(bad)("%j: %s", (text, words) => {
			expect(parse(text)).toHaveProperty("problems");
			expect(outcome(parse(text))).toContain(words);
		});
	});
}

const WHOLE = "is not valid; use a whole number of at least 0";
const NOON = Date.parse("2026-11-26T12:00:00Z");
table(
	"a deadline",
	parseDeadline(NOON),
	[
		["4s", NOON + 4_000],
		["0", NOON],
		["2026-11-26T12:00:04.000Z", NOON + 4_000],
	],
	[
		["2026-11-26T11:59:59Z", "is over"],
		["tomorrow", "neither a duration"],
	],
);

table(
	"a count",
	parseCount,
	[["0", 0]],
	[
		["-1", WHOLE],
		["1.5", WHOLE],
		["1e3", WHOLE],
		["9".repeat(16), WHOLE],
	],
);
table(
	"a switch",
	parseSwitch,
	[
		["1", true],
		["TRUE", true],
		["0", false],
		["false", false],
	],
	[["yes", '"yes" is not valid; use 1 or 0 (true or false)']],
);
table(
	"a word of a few",
	oneOf("pretty", "json"),
	[["json", "json"]],
	[
		["prety", "use pretty or json; did you mean pretty?"],
		["xml", '"xml" is unknown; use pretty or json'],
	],
);
table(
	"a text",
	parseText,
	[["/var/log/é", "/var/log/é"]],
	[["a\u001b[2J", "control characters"]],
);
const NO_DURATION = "is not a duration; use seconds, or for example 500ms, 30s";
table(
	"a duration",
	parseDuration,
	[
		["0", 0],
		["0.5", 500],
		["500ms", 500],
		["30s", 30_000],
		["10m", 600_000],
		["1.5h", 5_400_000],
		["8760h", 31_536_000_000],
	],
	[
		["", NO_DURATION],
		["-1", NO_DURATION],
		["1e3", NO_DURATION],
		["10 m", NO_DURATION],
		["1d", NO_DURATION],
		["s", NO_DURATION],
		["8761h", "too long"],
		["9".repeat(400), "too long"],
	],
);
table(
	"a name",
	parseName,
	[
		["0.x_y-1", "0.x_y-1"],
		["A".repeat(128), "A".repeat(128)],
	],
	["../x", "-a", "", "a b", "ä", "a\n", "A".repeat(129)].map((text) => [
		text,
		"is not valid; use letters",
	]),
);
table(
	"--nnodes",
	parseNodeRange,
	[
		["1", { min: 1, max: 1 }],
		["1:4", { min: 1, max: 4 }],
	],
	[
		["a", '"a" is not valid; use N or MIN:MAX, for example 2 or 1:4'],
		["1:2:3", "is not valid"],
		["1:", "is not valid"],
		["3:1", '"3:1": MIN is larger than MAX; use MIN:MAX, for example 1:3'],
		["0", '"0": MIN must be at least 1; use 1'],
		["0:4", '"0:4": MIN must be at least 1; use 1:4'],
	],
);
table(
	"--nproc-per-node",
	parseWorkerCount,
	[
		["1024", 1024],
		["auto", "auto"],
		["gpu", "gpu"],
		["xpu", "xpu"],
	],
	[
		["0", '"0" is not valid; use a whole number from 1 to 1024, "auto"'],
		["GPU", "is not valid"],
		["1025", "1025 workers exceed the limit of 1024 on one node"],
	],
);
table(
	"--local-addr",
	parseLocalAddress,
	[
		["10.0.0.1", "10.0.0.1"],
		["node-1.example.org", "node-1.example.org"],
		["fe80::1", "fe80::1"],
		["[::1]", "::1"],
		["a_b", "a_b"],
	],
	["10.0.0.1:80", "[a]", "a b", "10.0.0.256", "-a", "a..b"].map((text) => [
		text,
		"is not valid",
	]),
);
table(
	"--rdzv-endpoint",
	(text) => parseEndpoints(text, "flag"),
	[
		["a:1, b:65535", ["a:1", "b:65535"]],
		["https://etcd:2379/", ["https://etcd:2379"]],
		["http://[::1]:2379", ["[::1]:2379"]],
		["10.0.0.1:02379", ["10.0.0.1:2379"]],
	],
	[
		["foo", '"foo": port missing; use host:port, for example foo:2379'],
		["[::1]", '"[::1]": port missing; use host:port, for example [::1]:2379'],
		["host:0", '"host:0": port 0 is out of range; use 1-65535'],
		["host:99999", "port 99999 is out of range"],
		["host:x", '"host:x": "x" is no port; use 1-65535'],
		[
			"https://a:1/v3/",
			"a path has no meaning; use host:port, for example a:1",
		],
		["::1:2379", "write an IPv6 address in brackets, for example [::1]:2379"],
		["[::g]:1", "is not an address"],
		["a:1,,b:2", "is not an address"],
		["ftp://a:1", '"ftp" is not supported'],
		["a,b:0", "b:0"],
		["http://user:hunter2@h:2379", "password_file=FILE"],
	],
);
table(
	"--rdzv-backend",
	parseBackend,
	[["static", "static"]],
	[
		["etcd-v2", "torchrun's; use etcd"],
		["memry", "did you mean memory?"],
	],
);
table(
	"--restart-policy",
	parsePolicy,
	[
		["soft-replace", { name: "soft-replace" }],
		["policy.mjs", { file: "policy.mjs" }],
		["dir/policy", { file: "dir/policy" }],
	],
	[["HARD", "did you mean hard?"]],
);
table(
	"--signals-to-handle",
	parseSignals,
	[["term, int,TERM", ["SIGTERM", "SIGINT"]]],
	[
		["SIGKILL", "SIGKILL cannot be handled by any process; leave it out"],
		["winch", "SIGWINCH does not ask for an end, but would end the run"],
		["SIGTREM", "did you mean SIGTERM?"],
		["15", '"15" is not a signal'],
		["SIGTERM,", '"" is not a signal'],
	],
);
const PREFIX = "$" + "{local_rank}$" + "{role} $HOME {rank} ";
table(
	"--log-prefix",
	parseLogPrefix,
	[[PREFIX, PREFIX]],
	[
		["$" + "{rnk}", "did you mean rank?"],
		["$" + "{}", "is unknown"],
		["$" + "{rank", "is unknown"],
		["a\nb", "control characters"],
	],
);
table(
	"--local-ranks-filter",
	parseLocalRanks,
	[["2,0,2", [0, 2]]],
	[
		["3-1", "use local ranks"],
		["0,,1", "use local ranks"],
	],
);
table(
	"P1 --notices",
	parseNotices,
	[
		["auto", "auto"],
		["off", []],
		["slurm, file:/run/gone,gcp", ["slurm", { path: "/run/gone" }, "gcp"]],
	],
	[
		["awz", '"awz" is unknown; use auto, off, or some of aws, gcp'],
		["aws,off", '"off" is unknown'],
		["file:", "use file:PATH with the path of a file"],
	],
);
table(
	"P11 a deadline that may not be 0",
	parseSomeTime,
	[["2h", 7_200_000]],
	[["0", "a duration of more than 0"]],
);

test.each([
	[30_000, "30s"],
	[500, "500ms"],
])("%d ms in words", (durationMs, words) => {
	expect(durationInWords(durationMs)).toBe(words);
});

test("credentials in an endpoint are not repeated", () => {
	const words = outcome(parseEndpoints("http://user:hunter2@h:2379", "flag"));
	expect(words).not.toContain("hunter2");
});

test.each([
	["etcd1:80", { host: "etcd1", port: 80 }],
	["https://etcd1:443", { host: "etcd1", port: 443 }],
	["[::1]:2379", { host: "::1", port: 2379 }],
])("the address of %s", (endpoint, address) => {
	expect(addressOf(endpoint)).toEqual(address);
});

test("a loopback host is this very machine", () => {
	const here = ["LOCALHOST.", "etcd.localhost", "127.9.9.9", "::1", "0.0.0.0"];
	expect(here.filter((host) => !isLoopback(host))).toEqual([]);
	const others = ["10.0.0.1", "127.example.org", "localhost.example.org"];
	expect(others.filter(isLoopback)).toEqual([]);
});

describe("a map of streams", () => {
	const NONE = { stdout: false, stderr: false };
	const OUT = { stdout: true, stderr: false };
	const ERR = { stdout: false, stderr: true };
	const BOTH = { stdout: true, stderr: true };

	test.each([
		["0", [NONE, NONE, NONE]],
		["3", [BOTH, BOTH, BOTH]],
		["0:1,1:3", [OUT, BOTH, NONE]],
		["2:2", [NONE, NONE, ERR]],
	])("%s", (text, selections) => {
		const parsed = parseStreamMap(text);
		expect("value" in parsed && selectStreams(parsed.value, 3)).toEqual(
			selections,
		);
	});

	test.each([
		["4", "is not valid; use 0"],
		["0:4", "is not valid; use 0"],
		["0:1,", "is not valid; use 0"],
		["01", "is not valid; use 0"],
		["constructor", "is not valid; use 0"],
		["0:1,0:2", "twice"],
	])("not %s", (text, words) => {
		expect(outcome(parseStreamMap(text))).toContain(words);
	});

	test("redirects what is shown", () => {
		const redirected = redirectWhatIsShown([NONE, OUT, NONE], [OUT, ERR, NONE]);
		expect(redirected).toEqual([OUT, BOTH, NONE]);
	});
});

describe("the nearest name", () => {
	const known = ["nproc-per-node", "nnodes", "max-restarts", "tee", "role"];

	test.each([
		["nproc_per_nod", "nproc-per-node"],
		["nproc", "nproc-per-node"],
		["maxRestart", "max-restarts"],
		["te", "tee"],
		["zzz", undefined],
		["", undefined],
	])("of %s", (word, nearest) => {
		expect(nearestName(word, known)).toBe(nearest);
	});

	test.each([
		["", "abc", 3],
		["kitten", "sitting", 3],
		["status", "statsu", 1],
	])("is at the distance from %j to %j", (from, to, distance) => {
		expect(editDistance(from, to)).toBe(distance);
	});
});

type Times = Partial<NoticesConfig> & { readonly isInSlurm?: boolean };

test.each<[Times, string]>([
	[{ terminationGraceMs: 70_000 }, ""],
	[{ terminationGraceMs: 30_000 }, "--termination-grace (30s) is not longer"],
	[{ maxLifetimeMs: 86_400_000 }, ""],
	[
		{ maxLifetimeMs: 86_400_000, drainBeforeMs: 20_000 },
		"--drain-before (20s) is not longer than --shutdown-timeout (30s)",
	],
	[{ maxLifetimeMs: 50_000 }, "half of --max-lifetime (50s) is not longer"],
	[{ maxLifetimeMs: 70_000 }, ""],
	[{ drainBeforeMs: 20_000 }, ""],
	[{ drainBeforeMs: 20_000, isInSlurm: true }, "the end of the Slurm job"],
])("P2 times that do not fit are warned of: %j", (change, words) => {
	const { isInSlurm = false, ...times } = change;
	const given = {
		maxLifetimeMs: undefined,
		terminationGraceMs: undefined,
		drainBeforeMs: 60_000,
		...times,
	};
	const warnings = fitWarnings(given, 30_000, isInSlurm);
	expect(warnings).toHaveLength(words === "" ? 0 : 1);
	expect(warnings.join()).toContain(words);
});
