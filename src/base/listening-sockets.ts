import { readFileSync } from "node:fs";

/** The kernel's number of a socket that listens. */
const LISTENS = "0A";

/**
 * The sockets that listen at a port of this network namespace, as a process's directory names its open files.
 * @throws where the system has no such tables
 */
export function socketsListeningAt(port: number): readonly string[] {
	return ["tcp", "tcp6"].flatMap((name) =>
		socketsIn(readFileSync(`/proc/self/net/${name}`, "utf8"), port),
	);
}

function socketsIn(table: string, port: number): readonly string[] {
	return table.split("\n").flatMap((line) => {
		const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
		const isIt = Number.parseInt(local.split(":")[1] ?? "", 16) === port;
		return isIt && state === LISTENS ? [`socket:[${inode}]`] : [];
	});
}
