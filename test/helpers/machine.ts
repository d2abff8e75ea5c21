import { execFileSync } from "node:child_process";
import {
	closeSync,
	existsSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { systemErrorCode } from "../../src/base/errors.js";
import { waitFor } from "./processes.js";
import { onTestFinished } from "./this-test.js";

/** What these tests do to the machine: each of them skips the test where it is not allowed. */

/** Mounts a file system in memory, of `size` as mount takes it, for the time of a test. */
export function mountSmall(
	context: TestContext,
	folder: string,
	size: string,
): void {
	mkdirSync(folder, { recursive: true });
	const args = ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder];
	need(context, "no file system may be mounted here", "mount", args);
	// Lazily: the workers of a launcher that was killed may be there for a moment.
	onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
}

/** The words that start a program as the first process of its own pid namespace, whose /proc is its own unless it is said to be the machine's. */
export function asProcess1(
	context: TestContext,
	proc: "own" | "machine" = "own",
): readonly string[] {
	const mounting = proc === "own" ? ["--mount-proc"] : [];
	const words = ["--pid", "--fork", ...mounting, "--kill-child"];
	need(context, "no pid namespaces here", "unshare", [...words, "true"]);
	return ["unshare", ...words];
}

/** The words that start a program whose user may have no inotify instance. */
export function withoutInotify(context: TestContext): readonly string[] {
	const words = [
		...["--user", "--map-current-user", "--keep-caps", "sh", "-c"],
		'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"',
		"sh",
	];
	need(context, "no user namespaces here", "unshare", [...words, "true"]);
	return ["unshare", ...words];
}

/** A control group that can be frozen: SIGKILL to who is frozen in it waits, as to a process that is stuck in the kernel. */
export class Freezer {
	private readonly folder: string;

	constructor(context: TestContext) {
		const top = "/sys/fs/cgroup/freezer";
		if (!existsSync(`${top}/cgroup.procs`))
			context.skip("no freezer of control groups version 1 here");
		this.folder = `${top}/elastic-run-test-${process.pid}`;
		need(context, "no control group may be made here", "mkdir", [this.folder]);
		onTestFinished(() => {
			this.thaw();
			execFileSync("rmdir", [this.folder]);
		});
	}

	/** Also resolves where the process is, and stays there: the group is frozen from now on. */
	freeze(pid: number): void {
		this.write("cgroup.procs", String(pid));
		this.write("freezer.state", "FROZEN");
	}

	thaw(): void {
		this.write("freezer.state", "THAWED");
	}

	get isEmpty(): boolean {
		return readFileSync(`${this.folder}/cgroup.procs`, "utf8") === "";
	}

	private write(file: string, text: string): void {
		execFileSync("sh", ["-c", 'echo "$1" >"$2"', "sh", text, this.path(file)]);
	}

	private path(file: string): string {
		return `${this.folder}/${file}`;
	}
}

function need(
	context: TestContext,
	otherwise: string,
	program: string,
	args: readonly string[],
): void {
	try {
		execFileSync(program, [...args], { stdio: "ignore" });
	} catch {
		context.skip(otherwise);
	}
}

let users = 0;

/** The words that start a program as a user who has no other process, and who owns `folder` from now on: its limits hold. */
export function asOtherUser(
	context: TestContext,
	folder: string,
): readonly string[] {
	users += 1;
	const id = String(60_000 + ((8 * process.pid + users) % 5_000));
	const words = [`--reuid=${id}`, `--regid=${id}`, "--clear-groups"];
	need(context, "no other user may be taken here", "setpriv", [
		...words,
		"true",
	]);
	execFileSync("chown", ["-R", `${id}:${id}`, folder]);
	return ["setpriv", ...words];
}

/** Sets the soft limit of a process that `user` runs, as the options of prlimit name it; returns what takes that back. */
export function limit(
	user: readonly string[],
	pid: number,
	name: "nproc",
	value: number,
): () => void {
	const prlimit = (...words: readonly string[]) => {
		const all = [...user, "prlimit", "--pid", String(pid), ...words];
		return execFileSync("env", all, { encoding: "utf8" }).trim();
	};
	const shown = ["--noheadings", "--raw", "--output", "SOFT"];
	const before = prlimit(`--${name}`, ...shown);
	prlimit(`--${name}=${value}:`);
	return () => void prlimit(`--${name}=${before}:`);
}

/**
 * Takes all the room of a small file system that is a launcher's ELASTIC_RUN_DIR, and also what the launcher gives back
 * when it removes the channels of ended workers: they are linked elsewhere. Waits for the channels that it makes ahead
 * for the next of its `nproc` first workers.
 *
 * @returns makes room again
 */
export async function fillForGood(
	folder: string,
	nproc: number,
): Promise<() => void> {
	const last = `w${nproc - 1}.${2 * nproc}/`;
	await waitFor("the next channels", () => {
		const names = readdirSync(folder, { recursive: true }).map(String);
		return names.some((name) => name.includes(last));
	});
	const [channels = ""] = readdirSync(folder);
	const kept = join(folder, "kept");
	execFileSync("cp", ["-al", join(folder, channels), kept]);
	const others = join(folder, "others");
	fillDisk(others);
	return () => rmSync(others);
}

/** Makes a file larger until its disk is full. */
function fillDisk(path: string): void {
	const fd = openSync(path, "a");
	const block = Buffer.alloc(4_096);
	try {
		for (;;) writeSync(fd, block);
	} catch (error) {
		if (systemErrorCode(error) !== "ENOSPC") throw error;
	} finally {
		closeSync(fd);
	}
}
