import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLI } from "../helpers/cli.js";
import { openSite } from "../helpers/launch.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

const LAUNCHER = `${process.execPath} ${CLI}`;

describe("stdin of the launcher", () => {
	it.each([
		["", "1 2 3 4 5"],
		["--stdin none", ""],
	])("that is a pipe is read by the only worker %s", async (flags, expected) => {
		const site = openSite();
		const command = `seq 5 | ${LAUNCHER} ${flags} cat`;
		const { exitCode, stdout } = await site.start("sh", ["-c", command]).ended;
		const lines = stdout.match(/(?<=\] ).+/g) ?? [];
		expect(lines.join(" ")).toBe(expected);
		expect(exitCode).toBe(0);
	});

	it("is read by the one that is named; the next one after a restart reads on", async () => {
		const site = openSite();
		const worker = `'read line; echo "$LOCAL_RANK: $line"; [ -z "$line" ] || [ "$ELASTIC_RUN_ROUND" = 2 ]'`;
		const command = `(echo one; echo two) | ${LAUNCHER} --nproc-per-node 2 --stdin 1 sh -c ${worker}`;
		// Where a shell reads a pipe, it takes one byte at a time.
		const { stdout } = await site.start("sh", ["-c", command]).ended;
		expect(stdout).toContain("1: one");
		expect(stdout).toContain("1: two");
		expect(stdout).not.toMatch(/0: (one|two)/);
	});

	it("that is a pipe which none of several workers reads is told at the start", async () => {
		const site = openSite();
		const command = `seq 5 | ${LAUNCHER} --nproc-per-node 2 true`;
		const { exitCode, stderr } = await site.start("sh", ["-c", command]).ended;
		expect(stderr).toContain("none of the 2 workers reads it");
		expect(exitCode).toBe(0);
	});

	it.skipIf(!HAS_TERMINALS)(
		"that is a terminal is read by the only worker",
		async () => {
			const site = openSite();
			const said = join(site.path, "said");
			const worker = `'echo ready; read line; echo "got $line" > ${said}; exit 0'`;
			const terminal = onTerminal(site, `${LAUNCHER} sh -c ${worker}`, {
				TERM: "dumb",
			});
			await terminal.saw("stdout", "ready");
			terminal.type("hello\n");
			const { exitCode } = await terminal.ended;
			expect(exitCode).toBe(0);
			const { stdout } = await site.start("cat", [said]).ended;
			expect(stdout).toBe("got hello\n");
		},
	);
});
