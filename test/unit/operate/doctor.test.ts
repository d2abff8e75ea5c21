import { expect, test } from "vitest";
import {
	type Finding,
	judgeGuard,
	judgeLink,
	judgeOpenFiles,
	judgeProcesses,
	judgeStore,
} from "../../../src/operate/doctor/checks.js";
import {
	parseLimit,
	type StoreFacts,
} from "../../../src/operate/doctor/facts.js";
import { controlGroupPaths } from "../../../src/processes/control-group.js";

const limit = (count: number) => ({ soft: count, hard: count });
const users = { user: limit(4096), group: undefined, isPrivileged: false };
const etcd: StoreFacts = {
	endpoints: ["etcd1:2379"],
	unreadable: undefined,
	version: "3.5.21",
	prefix: "/elastic-run/",
	unwritable: undefined,
};
const link = { nodeId: "n1", address: "::1", port: 29_700, problem: undefined };
const store = (change: Partial<StoreFacts>) =>
	judgeStore({ ...etcd, ...change });

test.each<[string, Omit<Finding, "check">, Finding["status"], RegExp]>([
	[
		"too few files",
		judgeOpenFiles(limit(256), 256),
		"problem",
		/ulimit -Hn 1088/,
	],
	[
		"a soft limit that Node raises",
		judgeOpenFiles({ soft: 64, hard: 4096 }, 8),
		"ok",
		/4096/,
	],
	["unknown files", judgeOpenFiles(undefined, 8), "ok", /no limit is known/],
	[
		"too few processes of the user",
		judgeProcesses({ ...users, user: limit(100) }, 8),
		"problem",
		/ulimit -u 160/,
	],
	[
		"a control group that is nearly full",
		judgeProcesses({ ...users, group: { most: 512, now: 400 } }, 8),
		"problem",
		/room for 112 .*pids\.max/,
	],
	[
		"root, who has no such limit",
		judgeProcesses({ ...users, user: limit(100), isPrivileged: true }, 8),
		"ok",
		/any number/,
	],
	["no links", judgeLink(undefined), "ok", /no run with links/],
	["links", judgeLink(link), "ok", /n1, .* at \[::1\]:29700 can be called/],
	[
		"links that are blocked",
		judgeLink({ ...link, problem: "ECONNREFUSED" }),
		"warning",
		/\[::1\]:29700 cannot be called \(ECONNREFUSED\)/,
	],
	["a guard", judgeGuard([]), "ok", /what it needs/],
	["a guard without tools", judgeGuard(["grep", "rm"]), "problem", /grep, rm/],
	["no shell", judgeGuard(undefined), "problem", /\/bin\/sh/],
	[
		"a good etcd",
		store({}),
		"ok",
		/^etcd1:2379 runs 3\.5\.21, \/elastic-run\/ can be read and written/,
	],
	[
		"an older etcd",
		store({ version: "3.3.27" }),
		"problem",
		/too old; install 3\.4/,
	],
	[
		"an etcd that is not there",
		store({ unreadable: "etcd at etcd1:2379: connection refused" }),
		"problem",
		/^etcd at etcd1:2379: connection refused; start it/,
	],
	[
		"an etcd that may not be written",
		store({ unwritable: "permission denied" }),
		"problem",
		/below \/elastic-run\/ \(permission denied\); grant/,
	],
	[
		"an etcd of this machine alone",
		store({ endpoints: ["localhost:2379"] }),
		"warning",
		/written; only agents of this machine/,
	],
])("%s", (_, { status, message, fix = "" }, expected, words) => {
	expect([status, fix !== ""]).toEqual([expected, expected !== "ok"]);
	expect(`${message}; ${fix}`).toMatch(words);
});

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                unlimited            processes
Max open files            1024                 20000                files
`;

test.each([
	["Max open files", { soft: 1024, hard: 20_000 }],
	["Max processes", { soft: 96_365, hard: Number.POSITIVE_INFINITY }],
	["Max open", { soft: Number.NaN, hard: 1024 }],
	["Max nothing", undefined],
])("the text of /proc/self/limits: %s", (name, limit) => {
	expect(parseLimit(LIMITS, name)).toEqual(limit);
});

test("a control group's limit of processes, in both versions", () => {
	const file = { controller: "pids", v2: "pids.max", v1: "pids.max" } as const;
	expect(controlGroupPaths("8:pids:/docker/1f\n0::/\n", file)).toEqual([
		"/sys/fs/cgroup/pids/docker/1f/pids.max",
		"/sys/fs/cgroup/pids/docker/pids.max",
		"/sys/fs/cgroup/pids/pids.max",
		"/sys/fs/cgroup/pids.max",
	]);
});
