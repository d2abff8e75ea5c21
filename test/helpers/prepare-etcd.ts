import { delimiter, dirname } from "node:path";
import { findEtcd, installEtcd, versionOf } from "../../scripts/find-etcd.js";

/** Each project of vitest loads this file for itself. */
const DONE = Symbol.for("elastic-run: etcd was looked for");

/**
 * What runs once before tests that start an etcd: fetches one where the machine has none. Where that
 * cannot be done, those tests are skipped and the last line of the run says why.
 *
 * @throws Error where ETCD_BIN is not the path of an etcd that can be used.
 */
export default function prepareEtcd(): void {
	if (Reflect.has(globalThis, DONE)) return;
	Reflect.set(globalThis, DONE, true);
	try {
		const program = findEtcd() ?? fetchEtcd();
		console.log(`etcd ${versionOf(program)}: ${program}`);
		// A launcher that hosts an etcd finds it as on a machine where it is installed.
		process.env.PATH = `${process.env.PATH}${delimiter}${dirname(program)}`;
	} catch (error) {
		if (process.env.ETCD_BIN) throw error;
		console.log(error instanceof Error ? error.message : error);
	}
}

function fetchEtcd(): string {
	console.log("no etcd here: fetching Debian's with apt-get …");
	return installEtcd();
}
