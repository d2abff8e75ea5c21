import { describe, expect, test } from "vitest";
import type { WorkerCount } from "../../../src/config/parse/nodes.js";
import {
	deriveNodeId,
	deriveRunId,
} from "../../../src/config/resolve-identity.js";
import { countWorkers } from "../../../src/config/resolve-workers.js";
import { outcome } from "./outcome.js";

describe("a derived run id", () => {
	const source = {
		slurmJobId: undefined,
		script: "dir/train.py",
		args: ["--lr", "1"],
		nnodes: { min: 1, max: 4 },
		userName: "ann",
	};

	test("is script name and hash", () => {
		expect(deriveRunId(source)).toMatch(/^train-[0-9a-f]{8}$/);
	});

	test.each([
		{ script: "train.py" },
		{ args: ["--lr", "2"] },
		{ args: ["--lr 1"] },
		{ nnodes: { min: 1, max: 5 } },
		{ userName: "bob" },
	])("changes with %j", (change) => {
		expect(deriveRunId({ ...source, ...change })).not.toBe(deriveRunId(source));
	});

	test("is the job's under Slurm", () => {
		expect(deriveRunId({ ...source, slurmJobId: "4711" })).toBe("4711");
		expect(deriveRunId({ ...source, slurmJobId: "" })).toMatch(/^train-/);
	});

	test.each([
		"../..",
		"-ä",
		`${"x".repeat(300)}.py`,
	])("is a legal name for %s", (script) => {
		expect(deriveRunId({ ...source, script })).toMatch(
			/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
		);
	});
});

test.each([
	["node-1.example.org", "node-1.example.org"],
	["_host name", "host-name"],
	["", "run"],
])("node id of host %j", (hostName, nodeId) => {
	expect(deriveNodeId(hostName)).toBe(nodeId);
});

describe("the number of workers", () => {
	const files = ["null", "nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"];
	const renderers = ["card0", "card1", "renderD128", "renderD129"];
	const count = (
		asked: WorkerCount,
		environment: Record<string, string> = {},
		deviceFiles: string[] = [],
	) =>
		outcome(countWorkers(asked, { environment, deviceFiles, processors: 6 }));

	test.each([
		["cpu", count("cpu"), 6],
		["auto without devices", count("auto"), 6],
		["auto with devices", count("auto", {}, files), 2],
		["gpu by device files", count("gpu", {}, files), 2],
		["gpu by CUDA", count("gpu", { CUDA_VISIBLE_DEVICES: "0,3,5" }), 3],
		["gpu by UUID", count("gpu", { CUDA_VISIBLE_DEVICES: "GPU-1f,MIG-2" }), 2],
		["gpu by HIP", count("gpu", { HIP_VISIBLE_DEVICES: "1" }), 1],
		["K14 gpu by ROCR", count("gpu", { ROCR_VISIBLE_DEVICES: "0,1" }), 2],
		["K14 gpu by AMD's files", count("gpu", {}, ["kfd", ...renderers]), 2],
		["auto beside a screen's", count("auto", {}, renderers), 6],
		["K14 xpu by its mask", count("xpu", { ZE_AFFINITY_MASK: "0.0,0.1" }), 2],
		["K14 xpu by device files", count("xpu", {}, renderers), 2],
		[
			"gpu up to the first that is none",
			count("gpu", { CUDA_VISIBLE_DEVICES: "2,-1,3" }),
			1,
		],
		[
			"auto where all are hidden",
			count("auto", { CUDA_VISIBLE_DEVICES: "" }, files),
			6,
		],
	])("%s", (_, counted, expected) => {
		expect(counted).toBe(expected);
	});

	test("gpu without any", () => {
		expect([
			count("gpu"),
			count("gpu", { CUDA_VISIBLE_DEVICES: "" }, files),
		]).toEqual([
			"gpu: no GPU found (no /dev/nvidia0, no /dev/kfd); use a number",
			'gpu: no GPU found (CUDA_VISIBLE_DEVICES is ""); use a number',
		]);
	});
});
