import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CLI, runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
const cwd = folder.path;
afterAll(() => folder.remove());
const runLine = cliHost();

test.each([
	["ps", "elastic-run help lists the commands;"],
	["init", "elastic-run help lists the commands;"],
	["stauts", "did you mean elastic-run status?"],
	["true", "elastic-run help lists the commands;"],
])("the single word %s runs no program of the system", async (word, hint) => {
	expect(await runLine([word], { cwd })).toMatchObject({
		exitCode: 2,
		stdout: "",
		stderr: `elastic-run: "${word}" is no command of elastic-run and no file here; ${hint} to run the program ${word}, use: elastic-run run ${word}\n`,
	});
});

test.each([
	["behind run", ["run", "true"]],
	["behind run, with flags", ["run", "--tee", "0", "true"]],
	["behind a flag", ["--tee", "0", "true"]],
	["with arguments", ["true", "now"]],
	["by its path", ["/bin/true"]],
])("a program runs %s", async (_, args) => {
	expect((await runCli(args, { cwd })).exitCode).toBe(0);
});

test.each([
	["a pipe", "seq 5 | $LAUNCHER cat"],
	["a file", "seq 5 > five; $LAUNCHER --stdin 0 cat < five"],
	["a file, without a flag", "seq 5 > five; $LAUNCHER cat < five"],
])("a single word that reads %s is a program", (_, command) => {
	const LAUNCHER = `${process.execPath} ${CLI}`;
	const script = command.replace("$LAUNCHER", LAUNCHER);
	const { status, stderr } = spawnSync("sh", ["-c", script], {
		cwd,
		encoding: "utf8",
	});
	expect(stderr).not.toContain("is no command");
	expect(status).toBe(0);
});

test("a single word that is a file or a directory here runs no program of the system", async () => {
	writeFileSync(join(cwd, "pwd"), "", { mode: 0o755 });
	mkdirSync(join(cwd, "test"));
	expect(await runCli(["pwd"], { cwd })).toMatchObject({
		exitCode: 2,
		stderr:
			'elastic-run: "pwd" is no command of elastic-run; elastic-run help lists the commands; to run the file here, use: elastic-run ./pwd; to run the program pwd, use: elastic-run run pwd\n',
	});
	expect(await runLine(["test"], { cwd })).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining(
			'"test" is no command of elastic-run and no file here, but a directory;',
		),
	});
});

test("help, version and -V answer as their flags do", async () => {
	const flag = await runLine(["--help"], { cwd });
	expect(await runLine(["help"], { cwd })).toEqual(flag);
	expect(await runLine(["help", "run"], { cwd })).toEqual(flag);
	expect(await runLine(["run", "--help"], { cwd })).toEqual(flag);
	const status = await runLine(["status", "--help"], { cwd });
	expect(await runLine(["help", "status"], { cwd })).toEqual(status);
	const version = await runLine(["--version"], { cwd });
	expect(await runLine(["version"], { cwd })).toEqual(version);
	expect(await runLine(["-V"], { cwd })).toEqual(version);
	const unknown = await runLine(["help", "stauts"], { cwd });
	expect(unknown.exitCode).toBe(2);
	expect(unknown.stderr).toContain("did you mean elastic-run status?");
});
