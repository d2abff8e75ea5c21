import { existsSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { PYTHON } from "../fixtures/python/start-python.js";
import { openSite } from "../helpers/launch.js";

const WITHOUT_LINKS = fileURLToPath(
	new URL("../fixtures/python/no_symlinks.py", import.meta.url),
);

it
	.skipIf(process.platform !== "linux")
	.each(["EPERM", "EOPNOTSUPP", "ENOSYS"] as const)(
	"a log directory where links end with %s: one warning, and the run goes on",
	async (code) => {
		const site = openSite();
		const errno = String(constants.errno[code]);
		const launch = site.launch(
			[
				"--run-id",
				"unlinked",
				"sh",
				"-c",
				"[ $ELASTIC_RUN_ROUND = 2 ] && echo done",
			],
			{ through: [PYTHON, WITHOUT_LINKS, errno] },
		);
		const { exitCode, stdout, stderr } = await launch.ended;
		expect(exitCode, stderr).toBe(0);
		expect(stdout).toContain("[node-a 0] done\n");
		expect(stderr.match(/has no link "latest"/g)).toHaveLength(1);
		const ofRun = join(site.logs, "unlinked");
		const [instance = "", ...others] = readdirSync(ofRun);
		expect(others).toEqual([]);
		const ofNode = join(ofRun, instance, "node-a");
		expect(readFileSync(join(ofNode, "round-2/0/stdout.log"), "utf8")).toBe(
			"done\n",
		);
		expect(existsSync(join(ofNode, ".next"))).toBe(false);
		const shown = await site.launch(["logs", "unlinked"]).ended;
		expect(shown.stdout).toContain("[node-a 0] done\n");
	},
);
