import { expect, test } from "vitest";
import {
	judgeStore,
	type StoreFacts,
} from "../../../../src/operate/doctor/judge-store.js";

const facts: StoreFacts = {
	endpoints: ["etcd1:2379"],
	unreadable: undefined,
	version: "3.5.21",
	readsMs: [9, 0.8, 1, 0.7, 0.9],
	prefix: "/elastic-run/",
	unwritable: undefined,
};

test.each<[string, Partial<StoreFacts> | undefined, string, RegExp]>([
	["none", undefined, "ok", /^none was named/],
	[
		"a good one",
		{},
		"ok",
		/^etcd1:2379 runs 3\.5\.21, reads take 0\.9 ms, \/elastic-run\/ can be written$/,
	],
	["the oldest", { version: "3.4.0" }, "ok", /3\.4\.0/],
	["an older one", { version: "3.3.27" }, "problem", /too old; install 3\.4/],
	["one of version 2", { version: "2.3.8" }, "problem", /too old/],
	["one that does not say", { version: undefined }, "ok", /unknown version/],
	[
		"one that is not there",
		{ unreadable: "etcd at etcd1:2379: connection refused" },
		"problem",
		/^etcd at etcd1:2379: connection refused; start it/,
	],
	[
		"one that may not be written",
		{ unwritable: "permission denied" },
		"problem",
		/below \/elastic-run\/ \(permission denied\); grant/,
	],
	["a slow one", { readsMs: [1, 200, 300] }, "warning", /200\.0 ms.*nearer/],
	[
		"one of this machine alone",
		{ endpoints: ["localhost:2379"] },
		"warning",
		/can be written; only agents of this machine/,
	],
])("%s", (_, change, status, words) => {
	const finding = judgeStore(change && { ...facts, ...change });
	expect(finding.status).toBe(status);
	const { message, fix } = finding;
	expect(fix === undefined ? message : `${message}; ${fix}`).toMatch(words);
	expect(fix === undefined).toBe(status === "ok");
});
