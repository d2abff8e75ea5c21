import {
	appendFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	truncateSync,
} from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { LogLine } from "../../src/operate/log-source.js";
import { PYTHON } from "../fixtures/python/start-python.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

/** Prints to stderr, then again for each file `go-N` that the test makes, and fails at `go-end`. */
const TALKER = `
n=0; echo "words $n" >&2
while :; do
	if [ -e "$HOME/go-end" ]; then echo "the last words" >&2; exit 9; fi
	if [ -e "$HOME/go-$n" ]; then n=$((n+1)); echo "words $n" >&2; fi
	sleep 0.02
done`;
const EMPTIED = /was emptied while its worker runs/g;
const AWAY = /was removed or renamed while its worker runs/g;

/** The node's directory of the only run. */
function nodeDirectory(site: LaunchSite): string {
	const [run = ""] = readdirSync(site.logs);
	const latest = join(site.logs, run, "latest", "node-a");
	return existsSync(latest) ? latest : site.logs;
}

function go(site: LaunchSite, step: number | "end"): void {
	mkdirSync(join(site.path, `go-${step}`));
}

function talk(site: LaunchSite) {
	return site.launch([...["--max-restarts", "0", "sh", "-c", TALKER]]);
}

describe("a log file of a worker that runs", () => {
	it.each([
		["renamed", (file: string) => renameSync(file, `${file}.1`)],
		[
			"taken away with all logs",
			(file: string) =>
				rmSync(join(dirname(file), "../../../.."), { recursive: true }),
		],
	])("that is %s: the console goes on, one warning says so, the report has the last words", async (_how, take) => {
		const site = openSite();
		const launch = talk(site);
		await launch.saw("stderr", "words 0");
		take(join(nodeDirectory(site), "round-1", "0", "stderr.log"));
		go(site, 0);
		await launch.saw("stderr", "words 1");
		go(site, 1);
		await launch.saw("stderr", "words 2");
		go(site, "end");
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(1);
		expect(stderr.match(AWAY)).toHaveLength(1);
		expect(stderr).toContain("  | the last words");
		expect(stderr).toMatch(/log: .*stderr\.log was removed or renamed/);
		expect(stderr).not.toContain("was not redirected");
	});

	it("that is emptied is shown from its start, also where it has grown again meanwhile", async () => {
		const site = openSite();
		const launch = talk(site);
		await launch.saw("stderr", "words 0");
		const file = join(nodeDirectory(site), "round-1", "0", "stderr.log");
		truncateSync(file);
		appendFileSync(file, "more than there was before\n");
		await launch.saw("stderr", "] more than there was before\n");
		truncateSync(file);
		go(site, 0);
		await launch.saw("stderr", "words 1");
		go(site, "end");
		const { stderr } = await launch.ended;
		expect(stderr).toContain("  | the last words");
		expect(stderr).not.toMatch(AWAY);
		expect(stderr.match(EMPTIED)).toHaveLength(1);
	});
});

it("a worker that is kept for later rounds has its logs where it was started: report and logs find them", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--run-id", "kept", "--nproc-per-node", "2"],
		...["--restart-policy", "soft-replace", "--max-restarts", "1"],
		...[job("follows.js"), "waits"],
	]);
	const [first] = await site.sawWorkers(2, 1);
	if (first) tell(first, 7);
	const second = await site.sawWorker(2, { RANK: "0" });
	const other = site.workers(1)[1];
	if (other) tell(other, 7);
	await site.sawWorker(3, { RANK: "1" });
	await launch.saw("stderr", "round 3: 1 kept");
	const stderrOf = (round: number) =>
		join(nodeDirectory(site), `round-${round}`, "0", "stderr.log");
	appendFileSync(stderrOf(1), "words of the one before\n");
	appendFileSync(stderrOf(2), "words of the one that was kept\n");
	tell(second, 9);
	const { stderr } = await launch.ended;
	expect(stderr).toMatch(/^root cause: rank 0 on node-a .*, round 3: exit/m);
	expect(stderr).toContain("  | words of the one that was kept");
	expect(stderr).toMatch(/log: .*\/round-2\/0\/stderr\.log$/m);
	const args = ["logs", "kept", "--rank", "0", "--output", "json"];
	const { stdout } = await site.launch(args).ended;
	const lines = stdout
		.trimEnd()
		.split("\n")
		.map((line): LogLine => JSON.parse(line));
	expect(lines).toContainEqual(
		expect.objectContaining({
			...{ text: "words of the one that was kept", round: 2, rank: 0 },
		}),
	);
});

const WITHOUT_LINKS = fileURLToPath(
	new URL("../fixtures/python/no_symlinks.py", import.meta.url),
);

it.skipIf(process.platform !== "linux").each(["EPERM", "ENOSYS"] as const)(
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
