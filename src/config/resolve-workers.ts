import { constants } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import type { Host } from "./host.js";
import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import {
	redirectWhatIsShown,
	type StreamMap,
	selectStreams,
} from "./parse/logs.js";
import type { WorkerCount } from "./parse/nodes.js";
import { ok, type Parsed, problem } from "./parse/scalars.js";
import type { Environment, Report, SettingReader } from "./settings.js";

/** The number of workers. Reports a problem and returns 1 if it cannot be determined. */
export async function resolveWorkerCount(
	reader: SettingReader,
	request: {
		readonly environment: Environment;
	},
	host: Host,
): Promise<number> {
	const { nprocPerNode } = OPTIONS;
	const asked = reader.value(nprocPerNode);
	const counted = countWorkers(asked, {
		environment: request.environment,
		deviceFiles: typeof asked === "number" ? [] : await listDeviceFiles(),
		processors: host.processors,
	});
	if ("value" in counted) return counted.value;
	for (const words of counted.problems) reader.refuse(nprocPerNode, words);
	return 1;
}

/** What is known about the devices that a worker may use. */
interface DeviceView {
	readonly environment: Environment;
	/** File names in /dev and /dev/dri. */
	readonly deviceFiles: readonly string[];
	readonly processors: number;
}

/** How the devices of one kind are counted: by the first variable that is set, else by their files. */
interface DeviceKind {
	readonly variables: readonly string[];
	/** The names of their files. */
	readonly file: RegExp;
	/** The file that the driver must have made. */
	readonly driver?: string;
}

const RENDERER = /^renderD\d+$/;

/** In the order in which they are tried: NVIDIA's and AMD's are `gpu`, Intel's `xpu`, as in torch. */
const DEVICES: Readonly<Record<"gpu" | "xpu", readonly DeviceKind[]>> = {
	gpu: [
		{
			variables: [
				"CUDA_VISIBLE_DEVICES",
				"HIP_VISIBLE_DEVICES",
				"ROCR_VISIBLE_DEVICES",
			],
			file: /^nvidia\d+$/,
		},
		{ variables: [], file: RENDERER, driver: "kfd" },
	],
	xpu: [{ variables: ["ZE_AFFINITY_MASK"], file: RENDERER }],
};

/** File names in /dev and /dev/dri; none where these cannot be read. */
export async function listDeviceFiles(): Promise<string[]> {
	const lists = ["/dev", "/dev/dri"].map((path) =>
		readdir(path).catch(() => []),
	);
	return (await Promise.all(lists)).flat();
}

/** The number of workers that `--nproc-per-node` asks for on this machine. */
export function countWorkers(
	asked: WorkerCount,
	view: DeviceView,
): Parsed<number> {
	if (typeof asked === "number") return ok(asked);
	if (asked === "cpu") return ok(view.processors);
	const devices = countDevices(asked === "auto" ? "gpu" : asked, view);
	if (devices > 0) return ok(devices);
	if (asked === "auto") return ok(view.processors);
	return problem(
		`${asked}: no ${asked.toUpperCase()} found (${whereLooked(asked, view.environment)}); use a number`,
	);
}

/** A variable that is set decides even if it is empty: that hides every device. */
function countDevices(
	asked: "gpu" | "xpu",
	{ environment, deviceFiles }: Omit<DeviceView, "processors">,
): number {
	const variable = visibleDevicesVariable(asked, environment);
	if (variable === undefined) {
		const counts = DEVICES[asked].map(({ file, driver }) =>
			driver === undefined || deviceFiles.includes(driver)
				? deviceFiles.filter((name) => file.test(name)).length
				: 0,
		);
		return counts.find((count) => count > 0) ?? 0;
	}
	const entries = (environment[variable] ?? "").split(",");
	const end = entries.findIndex((entry) => !isDevice(entry.trim()));
	return end < 0 ? entries.length : end;
}

/** The drivers' rule: an entry that names no device hides itself and all after it. */
function isDevice(entry: string): boolean {
	return /^(\d+(\.\d+)?|(GPU|MIG)-.+)$/.test(entry);
}

function visibleDevicesVariable(
	asked: "gpu" | "xpu",
	environment: Environment,
): string | undefined {
	return DEVICES[asked]
		.flatMap(({ variables }) => variables)
		.find((name) => environment[name] !== undefined);
}

function whereLooked(asked: "gpu" | "xpu", environment: Environment): string {
	const variable = visibleDevicesVariable(asked, environment);
	if (variable !== undefined)
		return `${variable} is "${environment[variable]}"`;
	return asked === "gpu"
		? "no /dev/nvidia0, no /dev/kfd"
		: "no /dev/dri/renderD*";
}

/** One worker reads what the user types or pipes in, like a program without a launcher. */
export function stdinRank(
	reader: SettingReader,
	nprocPerNode: number,
	{ stdin }: Host,
	warn: Report,
): number | undefined {
	const given = reader.given(OPTIONS.stdin);
	if (given === "none") return undefined;
	if (given !== undefined) {
		if (given < nprocPerNode) return given;
		const ranks = `0 to ${nprocPerNode - 1}`;
		reader.refuse(
			OPTIONS.stdin,
			`${given} is no local rank here; use one of ${ranks}, or none`,
		);
		return undefined;
	}
	if (stdin === "other") return undefined;
	if (nprocPerNode === 1) return 0;
	if (stdin === "pipe") {
		warn(
			`stdin is a pipe, and none of the ${nprocPerNode} workers reads it; name the local rank that shall with --stdin RANK, or say --stdin none`,
		);
	}
	return undefined;
}

/** Whether each worker gets one device for its own. Refuses fewer devices than workers. */
export function virtualLocalRank(
	reader: SettingReader,
	nprocPerNode: number,
	{ environment }: { readonly environment: Environment },
): boolean {
	const isOn = reader.value(OPTIONS.virtualLocalRank);
	const visible = environment.CUDA_VISIBLE_DEVICES;
	if (isOn && visible !== undefined) {
		const count = countDevices("gpu", { environment, deviceFiles: [] });
		if (count < nprocPerNode) {
			reader.refuse(
				OPTIONS.virtualLocalRank,
				`CUDA_VISIBLE_DEVICES is "${visible}": ${count} of ${nprocPerNode} workers have a device; name more, or use a smaller --nproc-per-node`,
			);
		}
	}
	return isOn;
}

/** A user who names SIGHUP gets it, even under nohup. */
export function signalsToHandle(
	reader: SettingReader,
	{ isHangupIgnored }: Host,
): readonly NodeJS.Signals[] {
	const signals = reader.value(OPTIONS.signalsToHandle);
	const isAsked = reader.given(OPTIONS.signalsToHandle) !== undefined;
	return isHangupIgnored && !isAsked
		? signals.filter((signal) => signal !== "SIGHUP")
		: signals;
}

const NO_STREAM: StreamMap = { byLocalRank: new Map() };

/** Where the workers' output goes, and which of it is shown. */
export async function resolveLogs(
	reader: SettingReader,
	workers: { readonly nprocPerNode: number; readonly cwd: string },
) {
	const { redirects, tee, localRanksFilter } = OPTIONS;
	// torchrun's way to keep no files: the streams are inherited.
	const isDiscarded = reader.given(OPTIONS.logDir) === "/dev/null";
	const streamsOf = (option: typeof redirects | typeof tee) =>
		isDiscarded ? (reader.given(option) ?? NO_STREAM) : reader.value(option);
	const redirectMap = streamsOf(redirects);
	const teeMap = streamsOf(tee);
	const filter = reader.given(localRanksFilter);
	checkRanks(reader, redirects, ranksOf(redirectMap), workers.nprocPerNode);
	checkRanks(reader, tee, ranksOf(teeMap), workers.nprocPerNode);
	checkRanks(reader, localRanksFilter, filter ?? [], workers.nprocPerNode);
	const shown = selectStreams(teeMap, workers.nprocPerNode);
	return {
		logDir: isDiscarded ? undefined : await resolveLogDir(reader, workers.cwd),
		keepLogs: keptLogs(reader),
		redirects: redirectWhatIsShown(
			selectStreams(redirectMap, workers.nprocPerNode),
			shown,
		),
		tee: shown,
		logPrefix: reader.value(OPTIONS.logPrefix),
		localRanksFilter: filter,
		output: reader.value(OPTIONS.output),
		logFormat: reader.value(OPTIONS.logFormat),
	};
}

function ranksOf(map: StreamMap): readonly number[] {
	return "all" in map ? [] : [...map.byLocalRank.keys()];
}

function checkRanks(
	reader: SettingReader,
	option: Option<unknown>,
	ranks: readonly number[],
	nprocPerNode: number,
): void {
	const absent = ranks.find((rank) => rank >= nprocPerNode);
	if (absent === undefined || !reader.sound(option, OPTIONS.nprocPerNode))
		return;
	const words =
		nprocPerNode === 1
			? "1 worker; use 0"
			: `${nprocPerNode} workers; use 0 to ${nprocPerNode - 1}`;
	reader.refuse(option, `there is no local rank ${absent} with ${words}`);
}

function keptLogs(reader: SettingReader): number | undefined {
	const kept = reader.given(OPTIONS.keepLogs);
	if (kept !== undefined && reader.textOf(OPTIONS.logDir) === undefined) {
		reader.refuse(OPTIONS.keepLogs, "needs --log-dir; give both");
	}
	return kept;
}

async function resolveLogDir(
	reader: SettingReader,
	cwd: string,
): Promise<string | undefined> {
	const given = reader.given(OPTIONS.logDir);
	if (given === undefined) return undefined;
	const path = resolve(cwd, given);
	const problem = await directoryProblem(path);
	if (problem !== undefined) {
		reader.refuse(
			OPTIONS.logDir,
			`${given}: ${problem}; choose another directory`,
		);
	}
	return path;
}

/** Why a directory, which may not exist yet, cannot be written to. */
async function directoryProblem(path: string): Promise<string | undefined> {
	try {
		if (!(await stat(path)).isDirectory()) return `${path} is not a directory`;
		await access(path, constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		switch (systemErrorCode(error)) {
			case "ENOENT":
			case "ENOTDIR":
				return directoryProblem(dirname(path));
			case "EROFS":
				return `${path} is read-only`;
			default:
				return `permission denied in ${path}`;
		}
	}
}
