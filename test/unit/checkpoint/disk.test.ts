// A machine may lose its power at any moment: what a save says is on disk must have been synced,
// in the right order. No test can cut the power, so these read the order of the system calls.
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import {
	type CheckpointDisk,
	systemDisk,
} from "../../../src/checkpoint/disk.js";
import {
	freshDirectory,
	openInside,
	stateAt,
} from "../../fixtures/checkpoint-open.js";

describe("a save that is to outlive the machine's end", () => {
	it("syncs the claim of its round, and then its name", () => {
		const { directory, disk, calls } = recorded();
		openInside(directory, 1, { disk }).save(stateAt(1));
		expect(calls.slice(0, 6)).toEqual([
			"open claim",
			"write claim",
			"sync claim",
			"link claim",
			"open directory",
			"sync directory",
		]);
	});

	it("syncs the file before it gets its name, and then the name", () => {
		const { directory, disk, calls } = recorded();
		const checkpoints = openInside(directory, 1, { disk });
		checkpoints.save(stateAt(1));
		calls.length = 0;
		checkpoints.save(stateAt(2));
		expect(calls).toEqual([
			"open file",
			"write file",
			"sync file",
			"rename file",
			"open directory",
			"sync directory",
		]);
	});
});

/** The system's disk, and what was asked of it: each call once in a row, files by what they hold. */
function recorded() {
	const directory = freshDirectory();
	const calls: string[] = [];
	const paths = new Map<number, string>();
	const note = (call: string, path = "") => {
		const line = `${call} ${kindOf(path)}`;
		if (calls.at(-1) !== line) calls.push(line);
	};
	const disk: CheckpointDisk = {
		open(path, flags) {
			note("open", path);
			const fd = systemDisk.open(path, flags);
			paths.set(fd, path);
			return fd;
		},
		write(fd, bytes, offset) {
			note("write", paths.get(fd));
			return systemDisk.write(fd, bytes, offset);
		},
		sync(fd) {
			note("sync", paths.get(fd));
			systemDisk.sync(fd);
		},
		close: (fd) => systemDisk.close(fd),
		rename(from, to) {
			note("rename", from);
			systemDisk.rename(from, to);
		},
		link(from, to) {
			note("link", from);
			systemDisk.link(from, to);
		},
	};
	return { directory, disk, calls };
}

function kindOf(path: string): string {
	const name = basename(path);
	if (/ckpt/.test(name)) return "file";
	return /round-/.test(name) ? "claim" : "directory";
}
