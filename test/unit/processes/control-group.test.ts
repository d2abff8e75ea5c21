import { describe, expect, test } from "vitest";
import {
	oomCounterFiles,
	parseOomKills,
} from "../../../src/processes/control-group.js";

describe("where the out-of-memory kills of a control group are counted", () => {
	test.each([
		["", []],
		["0::/\n", ["/sys/fs/cgroup/memory.events"]],
		[
			// K9: a group without the memory controller is counted in the next one above.
			"0::/user.slice/a.scope\n",
			[
				"/sys/fs/cgroup/user.slice/a.scope/memory.events",
				"/sys/fs/cgroup/user.slice/memory.events",
				"/sys/fs/cgroup/memory.events",
			],
		],
		[
			"9:cpu,memory:/docker/1f\n1:name=systemd:/\n",
			[
				"/sys/fs/cgroup/memory/docker/1f/memory.oom_control",
				"/sys/fs/cgroup/memory/docker/memory.oom_control",
				"/sys/fs/cgroup/memory/memory.oom_control",
			],
		],
	])("%j", (membership, files) => {
		expect(oomCounterFiles(membership)).toEqual(files);
	});

	test.each([
		["low 0\noom 2\noom_kill 1\noom_group_kill 0\n", 1],
		["oom_kill_disable 0\nunder_oom 0\noom_kill 12\n", 12],
		["oom_kill_disable 0\n", undefined],
		["", undefined],
	])("the count in %j", (text, count) => {
		expect(parseOomKills(text)).toBe(count);
	});
});
