import { afterEach, describe, expect, it, vi } from "vitest";
import {
	parseCommand,
	withArguments,
} from "../../../bin/commands/command-arguments.js";
import {
	COMMANDS,
	type CommandName,
} from "../../../bin/commands/command-table.js";

afterEach(() => {
	vi.restoreAllMocks();
});

describe("the arguments of a command", () => {
	it("are words and flags, in any order", () => {
		const json = { text: "json", place: "--output", origin: "flag" };
		expect(parseCommand("status", ["--output", "json", "r.1"])).toEqual({
			operands: ["r.1"],
			flags: new Map([["output", json]]),
		});
		expect(parseCommand("status", ["r.1", "--output=json"])).toEqual({
			operands: ["r.1"],
			flags: new Map([["output", json]]),
		});
		expect(parseCommand("status", [])).toMatchObject({ operands: [] });
		expect(parseCommand("status", ["--", "--watch"])).toMatchObject({
			operands: ["--watch"],
		});
	});

	it.each<[CommandName, readonly string[], string, string]>([
		["status", ["--rdzv_backend", "memory"], "rdzvBackend", "memory"],
		["leave", ["--rdzv-id", "r"], "runId", "r"],
		["logs", ["--grep=-x"], "grep", "-x"],
		["logs", ["--grep", "-"], "grep", "-"],
		["logs", ["--tail", "1", "--tail", "2"], "tail", "2"],
		["logs", ["-f"], "follow", "1"],
		["stop", ["--no-wait"], "no-wait", "1"],
	])("%s %j sets %s to %j", (command, args, key, text) => {
		const parsed = parseCommand(command, args);
		if (parsed === "help" || "problems" in parsed) throw new Error("refused");
		expect(parsed.flags.get(key)?.text).toBe(text);
	});

	it.each([
		[["-h"]],
		[["r", "--help"]],
		[["--nosuch", "-h"]],
	])("%j ask for help", (args) => {
		expect(parseCommand("status", args)).toBe("help");
	});

	it.each<[CommandName, readonly string[], string]>([
		["status", ["--nnodes", "2"], "unknown option --nnodes; see --help"],
		[
			"status",
			["--outptu", "json"],
			"unknown option --outptu; did you mean --output?",
		],
		["status", ["-x"], "unknown option -x; see --help"],
		[
			"status",
			["r", "--output"],
			"--output: its value is missing; use --output <text|json>",
		],
		[
			"status",
			["--output", "--watch"],
			"--output: its value is missing or begins with a dash; use --output=VALUE",
		],
		[
			"logs",
			["--tail", "-1"],
			"--tail: its value is missing or begins with a dash; use --tail=VALUE",
		],
		["status", ["--watch=1"], "--watch takes no value; use --watch alone"],
		["status", ["--help=1"], "--help takes no value; use --help alone"],
		["logs", ["-f=1"], "a flag of one letter takes no =; use its name"],
		[
			"status",
			["--config="],
			"--config: is empty; give a value, or leave it out for the default",
		],
		[
			"doctor",
			["train.js"],
			"it takes flags only; leave out train.js (see --help)",
		],
	])("%s %j is refused", (command, args, words) => {
		expect(parseCommand(command, args)).toEqual({
			problems: [`${command}: ${words}`],
		});
	});

	it("are refused with all that is wrong", () => {
		expect(parseCommand("logs", ["--nosuch", "--tail=", "--watch"])).toEqual({
			problems: [
				"logs: unknown option --nosuch; see --help",
				"logs: unknown option --watch; see --help",
				"logs: --tail: is empty; give a value, or leave it out for the default",
			],
		});
	});
});

describe("the help of a command", () => {
	const PARSED_HERE = Object.entries(COMMANDS).filter(
		([name]) => !["run", "validate", "help", "version"].includes(name),
	);

	it.each(
		PARSED_HERE,
	)("%s begins with its flags, in 80 columns", async (name) => {
		const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
		const command = name as CommandName;
		expect(await withArguments(command, "What it does.", ["-h"], () => 1)).toBe(
			0,
		);
		const text = String(write.mock.calls[0]?.[0]);
		expect(text.startsWith(`Usage: elastic-run ${name}`)).toBe(true);
		expect(text.endsWith("\n\nWhat it does.")).toBe(true);
		const widths = text.split("\n").map((line) => line.length);
		expect(Math.max(...widths)).toBeLessThanOrEqual(80);
		const missing = COMMANDS[command].flags.filter(
			({ name, short, argument }) => {
				const typed = short === undefined ? `--${name}` : `-${short}`;
				return !text.includes(
					argument ? `[${typed} ${argument}]` : `[${typed}]`,
				);
			},
		);
		expect(missing).toEqual([]);
	});
});
