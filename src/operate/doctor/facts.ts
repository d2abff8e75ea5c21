import { randomUUID } from "node:crypto";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { text } from "node:stream/consumers";
import { askProgram } from "../../base/ask-program.js";
import { textAt } from "../../base/attempt.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { within } from "../../base/within.js";
import { isHttps, type StoreConfig } from "../../config/index.js";
import { controlGroupPaths } from "../../processes/index.js";
import { openStore, RunKeys } from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";

const LEASE_MS = 10_000;
const VERSION_WITHIN_MS = 2_000;
const ALL_RUNS = "/elastic-run/";

/** The facts about an etcd; `undefined` if unknown. */
export interface StoreFacts {
	readonly endpoints: readonly string[];
	/** Why it could not be read, in words. */
	readonly unreadable: string | undefined;
	/** "3.4.23" */
	readonly version: string | undefined;
	/** The prefix for this machine's agents. */
	readonly prefix: string;
	/** Why nothing could be written there, in words. */
	readonly unwritable: string | undefined;
}

/** The store and the run prefix that agents of this machine would use; the prefix of all runs if no run is named. */
export interface StorePlace {
	readonly store: StoreConfig;
	readonly runId: string | undefined;
}

/** Reads and writes as an agent does, and leaves nothing behind. */
export async function probeStore(
	{ store: config, runId }: StorePlace,
	clock: Clock,
): Promise<StoreFacts> {
	const prefix = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	// No run id begins with a dot.
	const key = `${prefix}.doctor-${randomUUID()}`;
	const facts: StoreFacts = {
		endpoints: config.endpoints,
		prefix,
		version: undefined,
		unreadable: undefined,
		unwritable: undefined,
	};
	// A client that asks a few times need not spread its tries.
	const store = await openStore(config, { clock, random: () => 0 });
	try {
		await store.snapshot([key]);
		const version = await versionOf(config, clock);
		const unwritable = await writeOnce(store, key);
		return { ...facts, version, unwritable };
	} catch (error) {
		return { ...facts, unreadable: messageOf(error) };
	} finally {
		await store.close();
	}
}

/** The key vanishes with its lease. Returns why it cannot be written, in words. */
async function writeOnce(
	store: Store,
	key: string,
): Promise<string | undefined> {
	try {
		const lease = await store.openLease(LEASE_MS, { onLost() {} });
		await store
			.transaction([], [{ put: key, value: "{}", lease: lease.id }])
			.finally(() => lease.revoke());
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** etcd serves it to any client, outside its API; undefined if it does not. */
async function versionOf(
	{ endpoints, credentials }: StoreConfig,
	clock: Clock,
): Promise<string | undefined> {
	const [endpoint = ""] = endpoints;
	const answer = new Promise<IncomingMessage>((resolve, reject) => {
		const request = isHttps(endpoint)
			? getHttps(`${endpoint}/version`, { ...credentials.tls }, resolve)
			: getHttp(`http://${endpoint}/version`, resolve);
		request.on("error", reject);
	});
	const read = async () => text(await answer);
	const body = await within(clock, VERSION_WITHIN_MS, read()).catch(() => "");
	return /"etcdserver":"([^"]+)"/.exec(body ?? "")?.[1];
}

const PROGRAM_WITHIN_MS = 5_000;
const GUARD_NEEDS = ["grep", "sleep", "rm", "tr"];

/** The bounds of a count; Infinity without a limit. */
export interface Limit {
	readonly soft: number;
	readonly hard: number;
}

export interface ProcessCounts {
	/** The user's limit: `ulimit -u`. */
	readonly user: Limit | undefined;
	/** The control group's limit; undefined if it has none. */
	readonly group: { readonly most: number; readonly now: number } | undefined;
	/** The user may exceed the limit: root, on Linux. */
	readonly isPrivileged: boolean;
}

export function readOpenFiles(): Limit | undefined {
	return parseLimit(read("/proc/self/limits"), "Max open files");
}

export function readProcessCounts(): ProcessCounts {
	const most = readPids("pids.max");
	const now = readPids("pids.current");
	return {
		user: parseLimit(read("/proc/self/limits"), "Max processes"),
		group: most === undefined || now === undefined ? undefined : { most, now },
		isPrivileged: process.getuid?.() === 0,
	};
}

/** The guard's programs that are not on `path`; undefined without a shell. */
export async function findMissingGuardTools(
	path: string | undefined,
): Promise<readonly string[] | undefined> {
	const script = `for tool in ${GUARD_NEEDS.join(" ")}; do command -v $tool >/dev/null || echo $tool; done`;
	const missing = await askProgram("/bin/sh", ["-c", script], {
		env: { PATH: path },
		withinMs: PROGRAM_WITHIN_MS,
	});
	return missing?.split("\n").filter((name) => name !== "");
}

const DESCRIBE_PYTHON = `
import importlib.util, platform, sys
torch = "torch" if importlib.util.find_spec("torch") else "no torch"
print(sys.executable, platform.python_version(), "with", torch)`;

/** The Python that would run scripts, in words; undefined if there is none. */
export async function findPython({
	PATH,
	HOME,
	PYTHON_EXEC,
}: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
	const args = ["-c", DESCRIBE_PYTHON];
	const about = { env: { PATH, HOME }, withinMs: PROGRAM_WITHIN_MS };
	return (await askProgram(PYTHON_EXEC || "python3", args, about))?.trim();
}

/** One limit from the text of /proc/PID/limits, by its name there; undefined if it has none. */
export function parseLimit(text: string, name: string): Limit | undefined {
	const line = text.split("\n").find((words) => words.startsWith(`${name} `));
	const [soft, hard] = line?.slice(name.length).trim().split(/\s+/) ?? [];
	return soft === undefined || hard === undefined
		? undefined
		: { soft: parseCount(soft), hard: parseCount(hard) };
}

function readPids(file: string): number | undefined {
	const names = { controller: "pids", v2: file, v1: file } as const;
	return controlGroupPaths(read("/proc/self/cgroup"), names)
		.map((path) => parseCount(read(path)))
		.find((count) => !Number.isNaN(count));
}

/** A count, where "max" and "unlimited" mean no limit; NaN for any other text. */
function parseCount(text: string): number {
	const word = text.trim();
	if (word === "max" || word === "unlimited") return Number.POSITIVE_INFINITY;
	return /^\d+$/.test(word) ? Number(word) : Number.NaN;
}

/** Empty if it cannot be read. */
function read(path: string): string {
	return textAt(path) ?? "";
}
