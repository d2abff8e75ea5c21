import { afterEach, describe, expect, it, vi } from "vitest";
import { CliCommand } from "../../../bin/command.js";
import { COMMANDS, isCommandWord, loadCommand } from "../../../bin/commands.js";
import { onOff, optionsOf } from "../../../src/config/option.js";
import { OPTIONS } from "../../../src/config/options.js";
import { parseCount } from "../../../src/config/parse/scalars.js";

afterEach(() => {
	vi.restoreAllMocks();
});

const FLAGS = optionsOf("Command", {
	tail: { argument: "N", help: "lines", parse: parseCount },
	follow: onOff("go on", { short: "f" }),
	noWait: onOff("do not wait"),
});

const make = (operands = "[RUN_ID]") =>
	new CliCommand("x", operands, "What it does.")
		.owns(FLAGS)
		.takes(OPTIONS.runId, OPTIONS.output, OPTIONS.rule)
		.ignores(OPTIONS.rdzvBackend);

describe("the arguments of a command", () => {
	it("are words and flags, in any order", () => {
		const json = { text: "json", place: "--output", origin: "flag" };
		for (const args of [
			["--output", "json", "r.1"],
			["r.1", "--output=json"],
		]) {
			const { operands, given } = make().read(args);
			expect(operands).toEqual(["r.1"]);
			expect(given).toEqual(new Map([["output", json]]));
		}
		expect(make().read(["--", "--tail"]).operands).toEqual(["--tail"]);
	});

	it.each([
		[["--rdzv_backend", "memory"], "rdzvBackend", "memory"],
		[["--rdzv-id", "r"], "runId", "r"],
		[["--tail=-x"], "tail", "-x"],
		[["--tail", "1", "--tail", "2"], "tail", "2"],
		[["--rule", "a", "--rules", "b"], "rule", "a\nb"],
		[["-f"], "follow", "1"],
		[["--no-wait"], "noWait", "1"],
		[["--no-w"], "noWait", "1"],
		[["--ta=7"], "tail", "7"],
		[["--rdzv_b", "memory"], "rdzvBackend", "memory"],
	])("%j set %s to %j", (args, key, text) => {
		expect(make().read(args).given.get(key)?.text).toBe(text);
	});

	it.each([
		[["--nnodes", "2"], "unknown option --nnodes; see --help"],
		[["--r", "2"], "unknown option --r; see --help"],
		[["--outptu", "json"], "unknown option --outptu; did you mean --output?"],
		[["--output"], "--output: its value is missing; use --output <text|json>"],
		[
			["--tail", "-1"],
			"--tail: its value is missing or begins with a dash; use --tail=VALUE",
		],
		[["--follow=1"], "--follow takes no value; use --follow alone"],
		[["-f=1"], "a flag of one letter takes no =; use its name"],
		[
			["--output="],
			"--output: is empty; give a value, or leave it out for the default",
		],
		[["--tail", "x"], '--tail: "x" is not valid; use a whole number'],
		[["r"], "it takes flags only; leave out r (see --help)"],
	])("%j are refused", async (args, words) => {
		await expect(make("").run(args)).rejects.toMatchObject({
			code: "USAGE",
			message: expect.stringContaining(`x: ${words}`),
		});
	});

	it("are refused with all that is wrong", async () => {
		const args = ["--nosuch", "--tail=", "--watch"];
		await expect(make().run(args)).rejects.toThrow(
			[
				"x: unknown option --nosuch; see --help",
				"x: unknown option --watch; see --help",
				"x: --tail: is empty; give a value, or leave it out for the default",
			].join("\n"),
		);
	});
});

it.each([
	[["-h"]],
	[["r", "--help"]],
	[["--nosuch", "-h"]],
])("%j print the help, which names the flags by their first names", async (args) => {
	const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
	const work = vi.fn(() => 1);
	expect(await make().does(work).run(args)).toBe(0);
	expect(work).not.toHaveBeenCalled();
	const text = String(write.mock.calls[0]?.[0]);
	expect(text).toMatch(/^Usage: elastic-run x \[options\] \[RUN_ID\]\n/);
	const named = text.match(/(?<= )--[a-z_-]+/g);
	expect(named).toEqual([
		...["--tail", "--follow", "--no-wait"],
		...["--run-id", "--output", "--rule", "--help"],
	]);
});

it.each(
	Object.keys(COMMANDS).filter(isCommandWord),
)("the file of %s is its command", async (word) => {
	const command = await loadCommand(word);
	if (!(command instanceof CliCommand)) return;
	expect(command.name()).toBe(`elastic-run ${word}`);
});
