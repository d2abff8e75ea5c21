import { readdir } from "node:fs/promises";
import type { WorkerCount } from "./parse/nodes.js";
import { ok, type Parsed, problem } from "./parse/parsed.js";

/** What is known about the devices that a worker may use. */
export interface DeviceView {
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** File names in /dev. */
	readonly deviceFiles: readonly string[];
	readonly processors: number;
}

const VISIBLE_DEVICES = ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"];

/** File names in /dev; none if it cannot be read. */
export async function listDeviceFiles(): Promise<string[]> {
	return readdir("/dev").catch(() => []);
}

/** The number of workers that `--nproc-per-node` asks for on this machine. */
export function countWorkers(
	asked: WorkerCount,
	view: DeviceView,
): Parsed<number> {
	if (typeof asked === "number") return ok(asked);
	if (asked === "cpu") return ok(view.processors);
	const devices = countDevices(view);
	if (devices > 0) return ok(devices);
	if (asked === "auto") return ok(view.processors);
	return problem(
		`gpu: no GPU found (${whereLooked(view.environment)}); use a number`,
	);
}

/** A variable that is set decides even if it is empty: that hides every device. */
function countDevices({ environment, deviceFiles }: DeviceView): number {
	const variable = visibleDevicesVariable(environment);
	if (variable === undefined) {
		return deviceFiles.filter((name) => /^nvidia\d+$/.test(name)).length;
	}
	const entries = (environment[variable] ?? "").split(",");
	const end = entries.findIndex((entry) => !isDevice(entry.trim()));
	return end < 0 ? entries.length : end;
}

/** The driver's rule: an entry that names no device hides itself and all after it. */
function isDevice(entry: string): boolean {
	return /^(\d+|(GPU|MIG)-.+)$/.test(entry);
}

function visibleDevicesVariable(
	environment: DeviceView["environment"],
): string | undefined {
	return VISIBLE_DEVICES.find((name) => environment[name] !== undefined);
}

function whereLooked(environment: DeviceView["environment"]): string {
	const variable = visibleDevicesVariable(environment);
	return variable === undefined
		? "no /dev/nvidia0"
		: `${variable} is "${environment[variable]}"`;
}
