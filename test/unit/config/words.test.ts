import { describe, expect, test } from "vitest";
import { editDistance, nearestName } from "../../../src/base/nearest-name.js";
import { parseLogPrefix } from "../../../src/config/parse/logs.js";
import { parseBackend } from "../../../src/config/parse/rendezvous.js";
import { parsePolicy } from "../../../src/config/parse/restarts.js";
import { parseSignals } from "../../../src/config/parse/signals.js";
import { outcome } from "./outcome.js";

describe("the nearest name", () => {
	const known = ["nproc-per-node", "nnodes", "max-restarts", "tee", "role"];

	test.each([
		["nproc-per-nod", "nproc-per-node"],
		["nproc_per_node", "nproc-per-node"],
		["nprocPerNode", "nproc-per-node"],
		["nproc", "nproc-per-node"],
		["maxRestart", "max-restarts"],
		["nodes", "nnodes"],
		["te", "tee"],
		["zzz", undefined],
		["", undefined],
		["x", undefined],
	])("%s", (word, nearest) => {
		expect(nearestName(word, known)).toBe(nearest);
	});

	test.each([
		["", "", 0],
		["a", "", 1],
		["kitten", "sitting", 3],
		["status", "statsu", 1],
		["abc", "", 3],
		["", "abc", 3],
		["ab", "ba", 1],
		["tee", "role", 3],
	])("distance from %j to %j", (from, to, distance) => {
		expect(editDistance(from, to)).toBe(distance);
	});
});

test.each([
	["SIGTERM,SIGINT", ["SIGTERM", "SIGINT"]],
	["term, int,TERM", ["SIGTERM", "SIGINT"]],
	["SIGUSR1", ["SIGUSR1"]],
	["SIGKILL", "SIGKILL cannot be handled by any process; leave it out"],
	["SIGHUP,SIGUSR2,QUIT", ["SIGHUP", "SIGUSR2", "SIGQUIT"]],
	[
		"SIGCHLD",
		"SIGCHLD does not ask for an end, but would end the run; leave it out",
	],
	["winch", expect.stringMatching(/^SIGWINCH does not ask for an end/)],
	["SIGTREM", expect.stringContaining("did you mean SIGTERM?")],
	["15", expect.stringContaining('"15" is not a signal')],
	["SIGTERM,", expect.stringContaining('"" is not a signal')],
])("signals %s", (text, expected) => {
	expect(outcome(parseSignals(text))).toEqual(expected);
});

describe("a log prefix", () => {
	test.each([
		"[$" + "{node} $" + "{rank}] ",
		"$" + "{local_rank}$" + "{role}$" + "{round}",
		"plain $HOME {rank} ",
	])("%s", (text) => {
		expect(outcome(parseLogPrefix(text))).toBe(text);
	});

	test.each([
		["$" + "{rnk}", "did you mean rank?"],
		["$" + "{}", "is unknown"],
		["$" + "{rank", "is unknown"],
		["a\nb", "control characters"],
	])("not %s", (text, words) => {
		expect(outcome(parseLogPrefix(text))).toContain(words);
	});
});

test.each([
	["hard", { name: "hard" }],
	["soft-replace", { name: "soft-replace" }],
	["./policy.js", { file: "./policy.js" }],
	["policy.mjs", { file: "policy.mjs" }],
	["dir/policy", { file: "dir/policy" }],
	["sft", expect.stringContaining("did you mean soft?")],
	["HARD", expect.stringContaining("did you mean hard?")],
])("policy %s", (text, expected) => {
	expect(outcome(parsePolicy(text))).toEqual(expected);
});

test.each([
	["etcd", "etcd"],
	["memory", "memory"],
	["c10d", "c10d"],
	["static", "static"],
	["etcd-v2", expect.stringContaining("torchrun's; use etcd")],
	["memry", expect.stringContaining("did you mean memory?")],
])("backend %s", (text, expected) => {
	expect(outcome(parseBackend(text))).toEqual(expected);
});
