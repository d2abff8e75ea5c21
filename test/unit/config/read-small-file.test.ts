import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readSmallFile } from "../../../src/base/read-small-file.js";
import { temporaryFolder } from "../../helpers/processes.js";

const LARGEST = 1024 * 1024;

const folder = temporaryFolder();
afterAll(() => folder.remove());
const path = (name: string) => join(folder.path, name);
const pipe = (name: string) => {
	execFileSync("mkfifo", [path(name)]);
	return path(name);
};

describe("a small file", () => {
	it("is read whole, up to 1 MiB", async () => {
		for (const bytes of [0, 1, LARGEST]) {
			writeFileSync(path("file"), Buffer.alloc(bytes, "x"));
			const read = await readSmallFile(path("file"));
			const content = "content" in read ? read.content : read.problem;
			expect(String(content) === "x".repeat(bytes)).toBe(true);
		}
	});

	it("may be a pipe whose writer takes its time", async () => {
		// Open for writing before it is named, as `<(command)` is.
		const script = `exec 3<>"$0"; echo open; sleep 0.2; echo a >&3; sleep 0.2; echo b >&3`;
		const writer = spawn("sh", ["-c", script, pipe("slow")]);
		await once(writer.stdout, "data");
		const read = await readSmallFile(path("slow"));
		expect(read).toEqual({ content: Buffer.from("a\nb\n") });
	});

	it("may be a pipe that nobody has opened for writing yet", async () => {
		const late = pipe("late");
		const reading = readSmallFile(late);
		execFileSync("sh", ["-c", 'sleep 0.2; echo a > "$0"', late]);
		expect(await reading).toEqual({ content: Buffer.from("a\n") });
	});

	it("that is none is refused in words", async () => {
		writeFileSync(path("large"), Buffer.alloc(LARGEST + 1));
		for (const [file, problem] of [
			[path("absent"), "no such file; check the path"],
			[path("large/below"), "no such file; check the path"],
			[folder.path, "is a directory; give a file"],
			[path("large"), "has more than 1 MiB; give a smaller file"],
			["/dev/zero", "has more than 1 MiB; give a smaller file"],
			[
				pipe("silent"),
				"is a pipe out of which nothing came for 5 s; give a file",
			],
		] as const) {
			expect(await readSmallFile(file)).toEqual({ problem });
		}
	});
});
