import { readFileSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { JsonFields } from "./json-fields.js";
import { hookPaths, SHORT_SOCKET_DIRECTORY } from "./layout.js";

/** Removes the short directory of a torch socket that a worker which was killed has left outside of its channel. */
export function removeShortSocket(hook: string): void {
	try {
		const ready = JsonFields.parse(readFileSync(hookPaths(hook).ready, "utf8"));
		const socket = ready.text("torch_socket");
		const directory = dirname(socket);
		if (!SHORT_SOCKET_DIRECTORY.test(basename(directory))) return;
		rmSync(socket, { force: true });
		rmdirSync(directory);
	} catch {
		// There is none, or it is gone.
	}
}
