import { spawnSync } from "node:child_process";
import {
	availableParallelism,
	cpus,
	loadavg,
	release,
	totalmem,
} from "node:os";
import { etcdVersion } from "./etcd.js";
import { CLI, PYTHON } from "./launchers.js";

/** What the figures depend on. The load is that of the last minute before the bench. */
export function describeMachine() {
	return {
		cpu: cpus()[0]?.model.trim() ?? "unknown",
		cores: availableParallelism(),
		memoryGiB: Number((totalmem() / 2 ** 30).toFixed(1)),
		kernel: release(),
		loadAverage: Number((loadavg()[0] ?? 0).toFixed(2)),
	};
}

/** Each version as text, or null where the program is not there. */
export function describeVersions() {
	return {
		node: process.versions.node,
		elasticRun: firstLine(process.execPath, [CLI, "--version"]),
		torch: firstLine(PYTHON, ["-c", "import torch; print(torch.__version__)"]),
		etcd: etcdVersion(),
		cc: firstLine("cc", ["--version"]),
	};
}

function firstLine(file, args) {
	const { status, stdout } = spawnSync(file, args, { encoding: "utf8" });
	return status === 0 ? (stdout.trim().split("\n")[0] ?? null) : null;
}
