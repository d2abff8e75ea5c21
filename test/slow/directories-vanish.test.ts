import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it, type TestContext } from "vitest";
import { type LaunchSite, openSite } from "../helpers/launch.js";

const NOBODY = "65534";
const WAIT = 'while ! [ -e "$JOB_RELEASE" ]; do sleep 0.05; done';

/** The words that start a program as a user whom modes keep out, who owns the site. */
function asNobody(context: TestContext, site: LaunchSite): readonly string[] {
	const words = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY];
	const through = [...words, "--clear-groups"];
	const [program = "", ...args] = through;
	if (spawnSync(program, [...args, "true"]).status !== 0) {
		context.skip("another user's identity cannot be taken here");
	}
	execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, site.path]);
	return through;
}

it.each([
	["the channels' base", 'rm -rf "$ELASTIC_RUN_DIR_OF_TEST"'],
	["the agent's directory", 'rm -rf "$(dirname "$ELASTIC_RUN_CHANNEL")"'],
	["all temporary files", 'rm -rf "$TMPDIR"'],
])("%s are removed while a worker runs: the next round starts, and commands find the run", async (_what, remove) => {
	const site = openSite();
	const script = remove.replace("$ELASTIC_RUN_DIR_OF_TEST", site.channels);
	const env = { ELASTIC_RUN_LOG_DIR: "" };
	const launch = site.launch(
		[
			...["--run-id", "tidied", "--max-restarts", "1", "sh", "-c"],
			`if [ "$ELASTIC_RUN_ROUND" = 1 ]; then ${script}; exit 3; fi; ${WAIT}`,
		],
		{ env },
	);
	await launch.saw("stderr", "round 2: started 1 of 1");
	const status = await site.launch(["status", "tidied"], { env }).ended;
	expect(status.stdout).toContain("round 2");
	writeFileSync(site.release, "");
	const { exitCode, stderr } = await launch.ended;
	expect(stderr).toContain("succeeded: 2 rounds");
	expect(exitCode).toBe(0);
});

describe("a worker that shuts a directory of its channel", () => {
	it.for([
		[
			"one that it has made",
			'd="$ELASTIC_RUN_CHANNEL/replies/shut"; mkdir "$d"; touch "$d/file"; chmod 500 "$d"',
		],
		["its own", 'chmod 0 "$ELASTIC_RUN_CHANNEL"'],
		["that of its agent", 'chmod 0 "$(dirname "$ELASTIC_RUN_CHANNEL")"'],
	] as const)("%s: the run goes on, and nothing is left", async ([
		,
		shut,
	], context) => {
		const site = openSite();
		const through = asNobody(context, site);
		const launch = site.launch(
			[
				...["--max-restarts", "1", "sh", "-c"],
				`${shut}; [ "$ELASTIC_RUN_ROUND" = 2 ] || exit 3`,
			],
			{ through },
		);
		const { exitCode, stderr } = await launch.ended;
		expect(stderr).toContain("succeeded: 2 rounds");
		expect(exitCode).toBe(0);
		expect(readdirSync(site.channels)).toEqual([]);
	});
});
