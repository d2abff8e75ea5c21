import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
	job,
	type LaunchOptions,
	type LaunchSite,
	openSite,
} from "../helpers/launch.js";

/** All that a launcher may leave behind: what lies below its bases. */
function listing(site: LaunchSite): readonly string[] {
	return readdirSync(site.path, { recursive: true })
		.map(String)
		.filter((path) => !/^channels\/elastic-run-\d+$/.test(path))
		.sort();
}

/** Runs a command where `mount` was done for it and its children alone. */
const withMount = (mount: string) => [
	...["unshare", "--mount", "sh", "-c"],
	...[`mount ${mount} && exec "$@"`, "sh"],
];
const canMount =
	spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
		.status === 0;

/** Launches, and says how it was refused and what it left behind. */
async function refusal(
	site: LaunchSite,
	args: readonly string[],
	options: LaunchOptions = {},
) {
	const before = listing(site);
	const { exitCode, stdout, stderr } = await site.launch(args, options).ended;
	const left = listing(site).filter((path) => !before.includes(path));
	expect(site.workers()).toEqual([]);
	return { exitCode, stdout, left, lines: stderr.trimEnd().split("\n") };
}

describe("a command that cannot be run", () => {
	it("is looked for in a working directory that was removed", async () => {
		const site = openSite();
		const through = ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh"];
		const cwd = join(site.path, "gone");
		mkdirSync(cwd);
		const { exitCode, lines } = await refusal(site, ["run", "true"], {
			cwd,
			through,
		});
		expect(exitCode).toBe(2);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toContain("the working directory no longer exists");
	});

	it("names an interpreter that is not there: 127, without a restart", async () => {
		const site = openSite();
		const tool = join(site.path, "tool");
		writeFileSync(tool, "#!/no/such/interpreter\n", { mode: 0o755 });
		const { exitCode, lines } = await refusal(site, ["./tool"]);
		expect(exitCode).toBe(127);
		expect(lines.join("\n")).toContain("/no/such/interpreter");
		expect(lines.join("\n")).toContain("restarts: 0 of 3 used");
		expect(site.channelDirectories()).toEqual([]);
	});
});

describe("a log directory that cannot be used", () => {
	it("is one in which files may not be large", async () => {
		const { exitCode, left, lines } = await refusal(
			openSite(),
			["run", "true"],
			{
				through: ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"],
			},
		);
		expect([exitCode, left]).toEqual([2, []]);
		expect(lines.at(-1)).toContain("raise `ulimit -f`");
	});
});

describe.skipIf(!canMount)("a file system that cannot take more", () => {
	it("is full: said of the log directory before anything starts", async () => {
		const site = openSite();
		mkdirSync(site.logs);
		const { exitCode, left, lines } = await refusal(site, [job("works.sh")], {
			through: withMount(`-t tmpfs -o size=8k none ${site.logs}`),
		});
		expect(exitCode).toBe(2);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatch(/no space left/);
		expect(left).toEqual([]);
	});

	it.each([
		"ro",
		"nr_inodes=2",
	])("is %s: said of the channel base, and the logs are taken back", async (how) => {
		const site = openSite();
		const { exitCode, left, lines } = await refusal(site, [job("works.sh")], {
			through: withMount(`-t tmpfs -o ${how} none ${site.channels}`),
		});
		expect(exitCode).toBe(1);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toContain(site.channels);
		expect(left).toEqual([]);
	});
});
