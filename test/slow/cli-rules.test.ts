import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;
const BAD_DATA = ["sh", "-c", "echo bad data 17 >&2; exit 3"];

test.each([
	["fail-run", 1, /ended: rank 0 on \S+ exit code 3, which ends the run/],
	["replace-node", 75, /restarts: 0 of 3 used/],
	["stop-node", 1, /restarts: 0 of 3 used/],
] as const)("J12 --rule '… => %s' ends with %d at the first failure, and the report names the rule", async (action, code, words) => {
	const rules = ["--rule", "exit=7 => restart", "--rule"];
	const rule = `error=/bad, or BAD data/,exit=3 => restart\nerror=/BAD DATA/i => ${action}`;
	const { exitCode, stderr } = await runCli([...rules, rule, ...BAD_DATA], {
		cwd,
	});
	expect(exitCode).toBe(code);
	expect(stderr).toMatch(words);
	expect(stderr).toContain(
		`decided by rule 3 (error=/BAD DATA/i => ${action})`,
	);
	expect(stderr).not.toContain("round 2: ");
});

test("J12 a pattern that would backtrack for hours does not hold up the run", async () => {
	const rule = "error=/^(a+)+$/m => fail-run";
	const words = ["sh", "-c", `echo ${"a".repeat(60)}! >&2; exit 3`];
	const { exitCode, stderr } = await runCli(
		["--max-restarts", "1", "--rule", rule, ...words],
		{ cwd },
	);
	expect(exitCode).toBe(1);
	expect(stderr).toContain("restarts: 1 of 1 used");
});

test("J12 restart-uncounted: a failure costs no restart", async () => {
	const once = "test -e marker || { touch marker; exit 3; }";
	const args = ["--max-restarts", "0", "--rule", "exit=3 => restart-uncounted"];
	const { exitCode, stderr } = await runCli([...args, "sh", "-c", once], {
		cwd,
	});
	expect(exitCode).toBe(0);
	expect(stderr).toContain("2 rounds, 1 restart,");
});

test("J11 rules of a config file, and the flag that beats them", async () => {
	writeFileSync(
		join(cwd, "run.yaml"),
		'rules:\n  - exit=3,4 => fail-run\n  - "* => replace-node"\n',
	);
	const config = ["--config", "run.yaml"];
	const run = (...flags: string[]) =>
		runCli([...config, ...flags, ...BAD_DATA], { cwd });
	expect((await run()).stderr).toContain("rule 1 (exit=3,4 => fail-run)");
	const { stderr } = await run("--rule", "* => stop-node");
	expect(stderr).toContain("rule 1 (* => stop-node)");
});

test("J18 validate --explain says which rule or policy would decide, and what follows", async () => {
	const rules = ["--rule", "exit=137,uptime<30s => replace-node"];
	const ask = (facts: string, ...flags: string[]) =>
		runCli(["validate", ...rules, ...flags, "--explain", facts], { cwd });
	const byRule = await ask("exit=137,role=trainer,uptime=12s");
	expect(byRule).toMatchObject({
		exitCode: 0,
		stdout:
			"rule 1 (exit=137,uptime<30s => replace-node) decides: this node leaves the run, which continues elsewhere (exit code 75); charged: nothing\n",
	});
	const byPolicy = await ask("exit=137", "--restart-policy", "soft");
	expect(byPolicy.stdout).toMatch(/^policy soft decides: .*budget of the node/);
	const json = await ask("exit=137,uptime=1s", "--output", "json");
	expect(JSON.parse(json.stdout)).toMatchObject({
		ok: true,
		explanation: { charge: "nothing", facts: { exit: 137, uptimeMs: 1_000 } },
	});
	const bad = await ask("exit=x,hue=3");
	expect(bad).toMatchObject({ exitCode: 2, stdout: "" });
	expect(bad.stderr).toContain('--explain: exit: "x"');
	expect(bad.stderr).toContain('--explain: "hue=3" is no fact');
	const launch = await runCli(["--explain", "exit=1", "true"], { cwd });
	expect(launch.stderr).toContain("unknown option --explain");
});
