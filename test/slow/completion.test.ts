import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
	afterAll,
	beforeAll,
	describe,
	expect,
	it,
	type TestContext,
} from "vitest";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
const SHELLS = ["bash", "zsh", "fish"];
const runLine = cliHost();

beforeAll(async () => {
	for (const shell of SHELLS) {
		const { stdout } = await runLine(["completion", shell], {
			cwd: folder.path,
		});
		writeFileSync(join(folder.path, `completion.${shell}`), stdout);
	}
	mkdirSync(join(folder.path, "work", "a folder"), { recursive: true });
	writeFileSync(join(folder.path, "work", "train it.js"), "");
});
afterAll(() => folder.remove());

/** What a command prints in the folder with a file "train it.js" and a directory "a folder", by line. */
function linesOf(program: string, args: readonly string[]): readonly string[] {
	const cwd = join(folder.path, "work");
	const env = { PATH: process.env.PATH, HOME: folder.path };
	return execFileSync(program, args, { cwd, env, encoding: "utf8" })
		.split("\n")
		.filter((line) => line !== "");
}

function skipWithout(shell: string, context: TestContext): void {
	try {
		execFileSync(shell, ["-c", "exit"], { stdio: "ignore" });
	} catch {
		context.skip(`no ${shell} here`);
	}
}

describe("completion in bash", () => {
	/** Calls the function as bash does, the last word being the one that is typed. */
	const SCRIPT = `
		compopt() { :; }
		. "$1"; shift
		COMP_WORDS=(elastic-run "$@") COMP_CWORD=$#
		_elastic_run
		printf '%s\\n' "\${COMPREPLY[@]}"`;
	const complete = (...words: string[]) =>
		linesOf("bash", [
			...["--norc", "-c", SCRIPT, "bash"],
			...[join(folder.path, "completion.bash"), ...words],
		]);

	it("knows every flag", () => {
		const names = ALL_OPTIONS.flatMap(({ name, aliases }) => [
			name,
			...aliases,
		]);
		expect([...complete("--")].sort()).toEqual(
			[...names, "help", "version"].map((name) => `--${name}`).sort(),
		);
	});

	it.each([
		[
			["--nproc-per-node", ""],
			["auto", "cpu", "gpu"],
		],
		[["--nproc_per_node", "c"], ["cpu"]],
		[["--output", "=", "j"], ["json"]],
		[
			["--output", "="],
			["text", "json"],
		],
		[["--log-format", "p"], ["pretty"]],
		[["--restart-policy", "h"], ["hard"]],
		[["--restart-policy", "t"], ["train it.js"]],
		[["--log-dir", ""], ["a folder"]],
		[["--config", "train"], ["train it.js"]],
		[["--role", ""], []],
		[["-t", ""], []],
		[["--dry-run", "--out"], ["--output"]],
		[["--role", "--output", "--stan"], ["--standalone"]],
		[["doc"], ["doctor"]],
		[["stat"], ["status"]],
		[["status", "--rdzv-b"], ["--rdzv-backend"]],
		[["status", "--w"], ["--watch"]],
		[["hist"], ["history"]],
		[["stop", "--no"], ["--no-wait"]],
		[
			["leave", "--no"],
			["--node-id", "--no-wait"],
		],
		[["logs", "--rank"], ["--rank"]],
		[["clean", "--old"], ["--older-than"]],
		[["t"], ["train it.js"]],
		[["--dry-run", "doc"], []],
		[["--dry-run", "t"], ["train it.js"]],
		[["doctor", "--o"], ["--output"]],
		[
			["completion", ""],
			["bash", "zsh", "fish"],
		],
		// What follows the script is its own: bash's default then offers files.
		[["train.js", "--out"], []],
		[["--role", "a", "train.js", "--"], []],
	])("%j offers %j", (words, offered) => {
		expect(complete(...words)).toEqual(offered);
	});
});

describe("completion in fish", () => {
	const complete = (line: string) =>
		linesOf("fish", [
			...["--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"'],
			...[join(folder.path, "completion.fish"), line],
		]).map((offer) => offer.split("\t")[0]);

	it.for<[string, string[]]>([
		["elastic-run --output ", ["json", "text"]],
		["elastic-run --nproc-per-node c", ["cpu"]],
		["elastic-run --dry-run --stand", ["--standalone"]],
		["elastic-run completion ", ["bash", "fish", "zsh"]],
		["elastic-run train.js --stand", []],
		["elastic-run doc", ["doctor"]],
	])("%j offers %j", ([line, offered], context) => {
		skipWithout("fish", context);
		expect([...complete(line)].sort()).toEqual(offered);
	});
});

describe("completion in zsh", () => {
	/** Types a line and a tabulator into a zsh at a terminal, and shows what became of it. */
	const SCRIPT = `
		zmodload zsh/zpty
		zpty shell zsh -f -i
		type() { zpty -w shell "$1"; }
		type 'PS1= RPS1=; unsetopt zle_bracketed_paste beep; autoload -U compinit; compinit -u -D; source '$1
		type 'accept-and-say() { print -r -- "<$BUFFER>"; BUFFER=; zle .accept-line }; zle -N accept-and-say; bindkey "^X" accept-and-say'
		zpty -w -n shell "$2"$'\\t\\x18'
		while zpty -r shell line; do
			[[ $line == *'<'elastic-run* ]] && print -r -- "$line" && break
		done
		zpty -d shell`;

	it.for<[string, string]>([
		["elastic-run --output=j", "elastic-run --output=json"],
		["elastic-run --log-format pr", "elastic-run --log-format pretty"],
		["elastic-run --dry-run --stand", "elastic-run --dry-run --standalone"],
		["elastic-run doct", "elastic-run doctor"],
		["elastic-run completion fi", "elastic-run completion fish"],
		["elastic-run train.js --stand", "elastic-run train.js --stand"],
	])("%j becomes %j", ([line, completed], context) => {
		skipWithout("zsh", context);
		const script = join(folder.path, "completion.zsh");
		const shown = linesOf("zsh", ["-f", "-c", SCRIPT, "zsh", script, line]);
		expect(shown.join("\n").replaceAll(" >", ">")).toContain(`<${completed}>`);
	});
});

it("another shell is refused", async () => {
	const { exitCode, stderr } = await runCli(["completion", "tcsh"], {
		cwd: folder.path,
	});
	expect(exitCode).toBe(2);
	expect(stderr).toContain("bash, zsh or fish");
});
