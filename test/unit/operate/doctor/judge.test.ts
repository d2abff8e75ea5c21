import { describe, expect, test } from "vitest";
import type { Finding } from "../../../../src/operate/doctor/finding.js";
import {
	judgeInotify,
	judgeMemory,
	judgeOpenFiles,
	judgeProcesses,
} from "../../../../src/operate/doctor/judge-limits.js";
import {
	judgeChannel,
	judgeLogs,
} from "../../../../src/operate/doctor/judge-places.js";
import {
	judgeDevices,
	judgeGuard,
	judgeNode,
	judgePort,
	judgeReaping,
	judgeSetpriv,
	judgeWarm,
} from "../../../../src/operate/doctor/judge-tools.js";

const MIB = 2 ** 20;
const limit = (count: number) => ({ soft: count, hard: count });
const channel = {
	base: "/run",
	refusal: undefined,
	network: undefined,
	freeBytes: 64 * MIB,
};
const logs = { directory: "/tmp", refusal: undefined, freeBytes: 2048 * MIB };
const users = { user: limit(4096), group: undefined, isPrivileged: false };
const inotify = { instances: 128, watches: 8192, refusal: undefined };
const devices = { visible: 2, present: 2, variable: undefined };

const CASES: readonly [string, Finding, Finding["status"], RegExp][] = [
	["the oldest Node", judgeNode("20.19.0"), "ok", /20\.19\.0/],
	["an older Node", judgeNode("20.18.3"), "problem", /install 20\.19/],
	["a much older Node", judgeNode("18.20.4"), "problem", /too old/],
	["a newer Node", judgeNode("24.1.0"), "ok", /24/],
	["enough files", judgeOpenFiles(limit(1024), 8), "ok", /1024/],
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
	[
		"no limit of files",
		judgeOpenFiles(limit(Number.POSITIVE_INFINITY), 8),
		"ok",
		/any/,
	],
	["unknown files", judgeOpenFiles(undefined, 8), "ok", /no limit is known/],
	["enough processes", judgeProcesses(users, 8), "ok", /room for 4096/],
	[
		"too few processes of the user",
		judgeProcesses({ ...users, user: limit(100) }, 8),
		"problem",
		/ulimit -u 160/,
	],
	[
		"root, who has no such limit",
		judgeProcesses({ ...users, user: limit(100), isPrivileged: true }, 8),
		"ok",
		/any number/,
	],
	[
		"a control group that is nearly full",
		judgeProcesses({ ...users, group: { most: 512, now: 400 } }, 8),
		"problem",
		/room for 112 .*pids\.max/,
	],
	["enough watchers", judgeInotify(inotify), "ok", /128 instances/],
	[
		"no watcher left",
		judgeInotify({ ...inotify, refusal: "EMFILE" }),
		"warning",
		/EMFILE.*sysctl/,
	],
	["a system without inotify", judgeInotify(undefined), "ok", /not of this/],
	[
		"memory",
		judgeMemory({ limit: 3 * 2 ** 30, canCountKills: true }),
		"ok",
		/3\.0 GiB/,
	],
	[
		"memory without a counter",
		judgeMemory({ limit: Number.POSITIVE_INFINITY, canCountKills: false }),
		"warning",
		/no limit.*cannot be read/,
	],
	["a channel", judgeChannel(channel, 8), "ok", /64 MiB free/],
	["a small channel", judgeChannel(channel, 200), "problem", /ELASTIC_RUN_DIR/],
	[
		"a channel far away",
		judgeChannel({ ...channel, network: "NFS" }, 8),
		"warning",
		/\(NFS\).*polling/,
	],
	[
		"a channel that cannot be used",
		judgeChannel({ ...channel, refusal: "it belongs to user 5" }, 8),
		"problem",
		/user 5/,
	],
	["logs", judgeLogs(logs), "ok", /2\.0 GiB free/],
	[
		"little room for logs",
		judgeLogs({ ...logs, freeBytes: 100 * MIB }),
		"warning",
		/100 MiB/,
	],
	[
		"no room for logs",
		judgeLogs({ ...logs, freeBytes: MIB }),
		"problem",
		/--log-dir/,
	],
	[
		"no right to logs",
		judgeLogs({ ...logs, refusal: "EACCES" }),
		"problem",
		/EACCES/,
	],
	["setpriv", judgeSetpriv("/bin/setpriv", "linux"), "ok", /\/bin\/setpriv/],
	["no setpriv", judgeSetpriv(undefined, "linux"), "warning", /util-linux/],
	["macOS", judgeSetpriv(undefined, "darwin"), "ok", /not of this/],
	["warm", judgeWarm("/bin/setpriv", "3.12.3", "linux"), "ok", /3\.12\.3/],
	["no Python", judgeWarm("/bin/setpriv", undefined, "linux"), "ok", /Python/],
	["cold", judgeWarm(undefined, "3.12.3", "linux"), "ok", /need setpriv/],
	["cold macOS", judgeWarm(undefined, "3.12.3", "darwin"), "ok", /need Linux/],
	["a guard", judgeGuard([]), "ok", /what it needs/],
	["a guard without tools", judgeGuard(["grep", "rm"]), "problem", /grep, rm/],
	["no shell", judgeGuard(undefined), "problem", /\/bin\/sh/],
	["an init", judgeReaping("reaped", 9), "ok", /reaps/],
	[
		"a process 1 that reaps nobody",
		judgeReaping("zombie", 9),
		"warning",
		/--init/,
	],
	["being process 1", judgeReaping("zombie", 1), "warning", /this program/],
	[
		"being process 1 of no /proc",
		judgeReaping("unknown", 1),
		"warning",
		/--init/,
	],
	["an unknown process 1", judgeReaping("unknown", 9), "ok", /not known/],
	["GPUs", judgeDevices(devices), "ok", /2 visible/],
	[
		"no GPU",
		judgeDevices({ ...devices, visible: 0, present: 0 }),
		"ok",
		/none/,
	],
	[
		"hidden GPUs",
		judgeDevices({ visible: 0, present: 2, variable: "CUDA_VISIBLE_DEVICES=" }),
		"warning",
		/but 2 NVIDIA devices are here/,
	],
	[
		"GPUs that are not here",
		judgeDevices({
			visible: 4,
			present: 2,
			variable: "CUDA_VISIBLE_DEVICES=0,1,2,3",
		}),
		"warning",
		/only 2/,
	],
	["a port", judgePort("10.0.0.5", undefined), "ok", /10\.0\.0\.5/],
	[
		"no port",
		judgePort("10.0.0.5", "EADDRNOTAVAIL"),
		"warning",
		/--local-addr/,
	],
];

describe("what the doctor says of", () => {
	test.each(CASES)("%s", (_, {
		status,
		message,
		fix = "",
	}, expected, words) => {
		expect([status, fix !== ""]).toEqual([expected, expected !== "ok"]);
		expect(`${message}; ${fix}`).toMatch(words);
	});
});
