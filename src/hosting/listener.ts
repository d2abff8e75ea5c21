import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { attempt } from "../base/attempt.js";
import { socketsListeningAt } from "../base/listening-sockets.js";

/** The process that listens at a port of this machine. */
export interface Listener {
	readonly isEtcd: boolean;
	/** "python3 (pid 4711)". */
	readonly words: string;
}

/** Undefined if nobody listens there, or it is another user's. Never throws. */
export function listenerAt(port: number): Listener | undefined {
	try {
		const sockets = socketsListeningAt(port);
		const pid = readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.find((name) => sockets.some((one) => filesOf(name).includes(one)));
		return pid === undefined ? undefined : described(pid);
	} catch {
		// There is no such file system, or the process has ended.
		return undefined;
	}
}

function filesOf(pid: string): readonly string[] {
	const directory = join("/proc", pid, "fd");
	const names = attempt(() => readdirSync(directory)) ?? [];
	return names.flatMap((name) => targetOf(join(directory, name)));
}

/** Empty if it was closed meanwhile. */
function targetOf(link: string): readonly string[] {
	return attempt(() => [readlinkSync(link)]) ?? [];
}

/** Its arguments may hold a password. */
function described(pid: string): Listener {
	const command = readFileSync(join("/proc", pid, "cmdline"), "utf8");
	const program = basename(command.split("\0")[0] ?? "");
	return {
		isEtcd: program.startsWith("etcd"),
		words: `${program} (pid ${pid})`,
	};
}
