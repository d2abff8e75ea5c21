import {
	chmodSync,
	chownSync,
	mkdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

function place(name: string, mode = 0o755): string {
	const path = join(folder.path, name);
	mkdirSync(path);
	chmodSync(path, mode);
	return path;
}

/** Writes a config file, which names a role. */
function plant(directory: string, name = "elastic-run.yaml", mode = 0o644) {
	const file = join(directory, name);
	writeFileSync(file, "role: planted\n");
	chmodSync(file, mode);
	return file;
}

const open = place("open", 0o777);
plant(open);
const openFile = place("open-file");
plant(openFile, "elastic-run.yaml", 0o666);
const linked = place("linked");
symlinkSync(join(open, "elastic-run.yaml"), join(linked, "elastic-run.yaml"));
const linkInOpen = place("link-in-open", 0o777);
symlinkSync(
	plant(place("closed"), "mine.yaml"),
	join(linkInOpen, "elastic-run.yaml"),
);
const two = place("two");
plant(two, "elastic-run.yaml", 0o666);
plant(two, "elastic-run.json");

describe("a config file that others may have written is named and not read", () => {
	test.each([
		[
			"in a directory that all may write",
			open,
			`every user may write its directory ${open} (mode 0777)`,
		],
		[
			"that all may write itself",
			openFile,
			"every user may write it (mode 0666)",
		],
		[
			"behind a link, in such a directory",
			linked,
			`every user may write its directory ${open} (mode 0777)`,
		],
		[
			"behind a link that lies in such a directory",
			linkInOpen,
			`every user may write its directory ${linkInOpen} (mode 0777)`,
		],
	])("%s", async (_, cwd, why) => {
		const words = `elastic-run: ./elastic-run.yaml is not read: ${why}; if its settings are yours, use --config ./elastic-run.yaml\n`;
		const command = ["sh", "-c", "exit 0"];
		const launched = await runCli(["--tee", "0", ...command], { cwd });
		expect(launched.stderr).toContain(words);
		const dry = await runCli(["--dry-run", "--output", "json", "true"], {
			cwd,
		});
		expect(dry.stderr).toBe(words);
		expect(JSON.parse(dry.stdout).configuration.role.value).toBe("default");
		const checked = await runCli(["validate", "--output", "json"], { cwd });
		expect(checked.stderr).toBe(words);
		expect(JSON.parse(checked.stdout).configuration.role.value).toBe("default");
	});

	test("also by the commands that look for a run", async () => {
		const { stderr } = await runCli(["status"], { cwd: open });
		expect(stderr).toContain("./elastic-run.yaml is not read: every user");
	});
});

test.each([
	["a link to nothing", (path: string) => symlinkSync("/nowhere", path)],
	["no file", (path: string) => mkdirSync(path)],
])("a config file that is %s is named and not read", async (what, make) => {
	const cwd = place(what.replaceAll(" ", "-"));
	make(join(cwd, "elastic-run.yaml"));
	const args = ["--dry-run", "--output", "json", "true"];
	const { exitCode, stderr } = await runCli(args, { cwd });
	expect([exitCode, stderr]).toEqual([
		0,
		`elastic-run: ./elastic-run.yaml is not read: it is ${what}\n`,
	]);
});

test("a config file of another user is named and not read", async (context) => {
	if (process.getuid?.() !== 0) {
		context.skip("only root may give a file to another user");
	}
	const NOBODY = 65_534;
	const owned = place("owned");
	chownSync(plant(owned), NOBODY, NOBODY);
	const around = place("around");
	plant(around);
	chownSync(around, NOBODY, NOBODY);
	for (const [cwd, what] of [
		[owned, "it belongs to user 65534"],
		[around, `its directory ${around} belongs to user 65534`],
	] as const) {
		const args = ["--dry-run", "--output", "json", "true"];
		const { stdout, stderr } = await runCli(args, { cwd });
		expect(stderr).toContain(`./elastic-run.yaml is not read: ${what};`);
		expect(JSON.parse(stdout).configuration.role.value).toBe("default");
	}
});

test("a config file that others may write is read where it is named", async () => {
	const args = [
		"--dry-run",
		"--output",
		"json",
		"--config",
		"./elastic-run.yaml",
		"true",
	];
	const { stdout } = await runCli(args, { cwd: open });
	expect(JSON.parse(stdout).configuration.role.value).toBe("planted");
});

test("of two config files, the one that nobody else may write is read", async () => {
	const args = ["--dry-run", "--output", "json", "true"];
	const { stdout, stderr } = await runCli(args, { cwd: two });
	expect(stderr).toContain("settings are read from ./elastic-run.json\n");
	expect(stderr).toContain("./elastic-run.yaml is not read");
	expect(JSON.parse(stdout).configuration.role.value).toBe("planted");
});
