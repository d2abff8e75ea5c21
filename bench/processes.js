import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The pids of a process and of all that it started, as far as they are its descendants now. */
export function familyOf(pid) {
	const children = childrenByParent();
	const family = [pid];
	for (const member of family) {
		family.push(...(children.get(member) ?? []));
	}
	return family;
}

/** Resident memory in MB. */
export function residentMegabytes(pid) {
	const [, kilobytes = "0"] =
		/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
	return (Number(kilobytes) * 1024) / 1e6;
}

/** Processor time that its living threads have used, in milliseconds. */
export function processorMs(pid) {
	const threads = list(`/proc/${pid}/task`);
	const nanoseconds = threads.map((thread) =>
		Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]),
	);
	return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

function childrenByParent() {
	const children = new Map();
	for (const name of list("/proc").filter((entry) => /^\d+$/.test(entry))) {
		const stat = read(`/proc/${name}/stat`);
		// The name of a program may hold spaces and parentheses.
		const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
		children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
	}
	return children;
}

/** A process may be gone before it is read. */
function read(path) {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}

function list(path) {
	try {
		return readdirSync(path);
	} catch {
		return [];
	}
}

/** Processor time that processes use meanwhile, in percent of a core. */
export async function processorShare(pids, durationMs) {
	const used = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
	const [usedBefore, before] = [used(), performance.now()];
	await sleep(durationMs);
	return ((used() - usedBefore) / (performance.now() - before)) * 100;
}
