import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { askProgram } from "../base/ask-program.js";
import { ElasticRunError } from "../base/errors.js";

const USUAL_FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
const LOOK_LIMIT_MS = 10_000;
/** The first version with the gateway that the keeper uses. */
const OLDEST = [3, 4] as const;

const HOW_TO_GET_IT =
	"apt-get install etcd-server (Debian, Ubuntu), or set ETCD_BIN to the path of an etcd of version 3.4 or later";

/** The variables that etcd gets. `ETCD_*` variables would be flags, and belong to another etcd. */
export const ETCD_ENVIRONMENT: Readonly<Record<string, string>> = {
	ETCD_UNSUPPORTED_ARCH: process.arch === "x64" ? "amd64" : process.arch,
};

/**
 * The etcd to start: `ETCD_BIN`, else the first one on PATH or in the usual directories that is new enough.
 * @throws ElasticRunError USAGE that says how to get one
 */
export async function findEtcd(
	environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
	const { ETCD_BIN: named, PATH = "" } = environment;
	const folders = [...PATH.split(":").filter(isAbsolute), ...USUAL_FOLDERS];
	const files = named
		? [named]
		: [...new Set(folders)].map((folder) => join(folder, "etcd"));
	let tooOld: string | undefined;
	for (const file of files.filter(isProgram)) {
		const version = await versionOf(file);
		if (version === undefined) continue;
		if (isNewEnough(version)) return file;
		tooOld ??= `${file} is etcd ${version}, which is too old`;
	}
	const why = named
		? (tooOld ?? `ETCD_BIN=${named} is no etcd`)
		: (tooOld ?? "no etcd is installed here");
	throw new ElasticRunError(
		"USAGE",
		`this node hosts the etcd at which the run meets, and ${why}: ${HOW_TO_GET_IT}`,
	);
}

function isNewEnough(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

async function versionOf(file: string): Promise<string | undefined> {
	const about = { env: ETCD_ENVIRONMENT, withinMs: LOOK_LIMIT_MS };
	const words = (await askProgram(file, ["--version"], about)) ?? "";
	return /^etcd Version: (\d+\.\d+\.\S+)/m.exec(words)?.[1];
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
