import { resolve } from "node:path";
import { listen } from "../../agent/workers/hold-port.js";
import type { Clock } from "../../base/clock.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import { channelBase } from "../../config/channel-base.js";
import {
	countWorkers,
	type DeviceView,
	listDeviceFiles,
} from "../../config/count-devices.js";
import type { Host } from "../../config/host.js";
import { chooseLocalAddress } from "../../config/identity.js";
import type { WorkerCount } from "../../config/parse/nodes.js";
import { findSetpriv } from "../../supervision/setpriv.js";
import { type Finding, warning } from "./finding.js";
import {
	judgeInotify,
	judgeMemory,
	judgeOpenFiles,
	judgeProcesses,
} from "./judge-limits.js";
import { judgeChannel, judgeLogs } from "./judge-places.js";
import { judgeStore } from "./judge-store.js";
import {
	type DeviceFacts,
	judgeDevices,
	judgeGuard,
	judgeNode,
	judgePort,
	judgeReaping,
	judgeSetpriv,
	judgeWarm,
} from "./judge-tools.js";
import { missingGuardTools, watchOrphan } from "./probe-processes.js";
import { probePython } from "./probe-python.js";
import { probeStore, type StoreQuestion } from "./probe-store.js";
import {
	probeChannel,
	probeInotify,
	probeLogs,
	readMemory,
	readOpenFiles,
	readProcessCounts,
} from "./probe-system.js";

/**
 * Checks everything on this machine that a launcher with this many `workers` needs, in reading order, and the etcd if one
 * is named. Takes at most some seconds, and leaves nothing behind.
 */
export async function examineMachine(
	host: Host,
	clock: Clock,
	asked: WorkerCount,
	store?: StoreQuestion | undefined,
): Promise<readonly Finding[]> {
	const devices = await viewDevices(host);
	const workers = countOf(asked, devices);
	const base = await channelBase(host);
	const { PATH, ELASTIC_RUN_LOG_DIR } = host.environment;
	const logs = ELASTIC_RUN_LOG_DIR || host.temporaryDirectory;
	const routes = { toStore: undefined, external: host.addresses };
	const address = chooseLocalAddress(false, routes);
	const checks: readonly [string, () => Finding | Promise<Finding>][] = [
		["Node.js", () => judgeNode(host.node.version)],
		["open files", () => judgeOpenFiles(readOpenFiles(), workers)],
		["processes", () => judgeProcesses(readProcessCounts(), workers)],
		["memory", () => judgeMemory(readMemory())],
		["inotify", () => judgeInotify(probeInotify(base))],
		["channel directory", () => judgeChannel(probeChannel(base), workers)],
		["log directory", () => judgeLogs(probeLogs(resolve(host.cwd, logs)))],
		[
			"setpriv",
			async () => judgeSetpriv(await findSetpriv(PATH), process.platform),
		],
		["warm restarts", () => examineWarm(host)],
		["guard", async () => judgeGuard(await missingGuardTools(PATH))],
		[
			"process 1",
			async () => judgeReaping(await watchOrphan(clock), process.pid),
		],
		["GPUs", () => judgeDevices(deviceFacts(devices))],
		["port", async () => judgePort(address, await refusalOfPort(address))],
		["etcd", async () => judgeStore(store && (await probeStore(store, clock)))],
	];
	return Promise.all(checks.map(([name, check]) => examine(name, check)));
}

async function examineWarm({ environment }: Host): Promise<Finding> {
	const [tool, python] = await Promise.all([
		findSetpriv(environment.PATH),
		probePython(environment),
	]);
	return judgeWarm(tool, python, process.platform);
}

async function examine(
	name: string,
	check: () => Finding | Promise<Finding>,
): Promise<Finding> {
	try {
		return await check();
	} catch (error) {
		return warning(
			name,
			`could not be looked at (${messageOf(error)})`,
			"look at it by hand",
		);
	}
}

async function viewDevices(host: Host): Promise<DeviceView> {
	const { environment, processors } = host;
	return { environment, processors, deviceFiles: await listDeviceFiles() };
}

function countOf(asked: WorkerCount, view: DeviceView): number {
	const counted = countWorkers(asked, view);
	return "value" in counted ? counted.value : 0;
}

function deviceFacts(view: DeviceView): DeviceFacts {
	const { environment } = view;
	const name = ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"].find(
		(known) => environment[known] !== undefined,
	);
	return {
		visible: countOf("gpu", view),
		present: countOf("gpu", { ...view, environment: {} }),
		variable: name === undefined ? undefined : `${name}=${environment[name]}`,
	};
}

async function refusalOfPort(address: string): Promise<string | undefined> {
	try {
		(await listen(address)).close();
		return undefined;
	} catch (error) {
		return systemErrorCode(error) ?? messageOf(error);
	}
}
