import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchProgram, putInPlace } from "../../scripts/find-etcd.js";

const FETCHED = fileURLToPath(
	new URL("../../node_modules/.cache/elastic-run/etcdctl", import.meta.url),
);

/** A PATH with an etcdctl. Debian's is fetched once if the machine has none; undefined if that fails. */
export function pathWithEtcdctl(): string | undefined {
	const { PATH = "" } = process.env;
	if (isOnPath()) return PATH;
	try {
		if (!existsSync(FETCHED)) fetchEtcdctl();
	} catch {
		return undefined;
	}
	return `${PATH}${delimiter}${dirname(FETCHED)}`;
}

function isOnPath(): boolean {
	try {
		execFileSync("etcdctl", ["version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

function fetchEtcdctl(): void {
	const folder = mkdtempSync(join(tmpdir(), "elastic-run-etcdctl-"));
	try {
		// As root, apt-get reads as another user what it has fetched.
		chmodSync(folder, 0o755);
		const program = fetchProgram(folder, process.env, "etcd-client", "etcdctl");
		putInPlace(program, FETCHED);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
