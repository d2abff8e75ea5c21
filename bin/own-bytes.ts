import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { EXIT_CODES } from "../src/base/errors.js";
import { isCommandWord } from "./commands.js";
import { say } from "./console.js";

/** The launcher itself reads these. */
const READ_HERE = /^(ELASTIC_RUN_|PET_|TMPDIR$|XDG_RUNTIME_DIR$)/;
/** A shell's own: a working directory is looked at by its place. */
const HARMLESS = ["PWD", "OLDPWD"];

/**
 * Says which arguments and variables are not UTF-8, by the bytes that the kernel has: Node could only pass on other ones.
 * @returns the exit code of a refusal; undefined if the command may go on
 */
export function refuseLostBytes(args: readonly string[]): number | undefined {
	const [first = ""] = args;
	const isLaunch = !isCommandWord(first) || first === "run";
	const all = partsOf("/proc/self/cmdline");
	const typed = all.slice(all.length - args.length);
	const place = typed.findIndex((bytes) => !isUtf8(bytes));
	// It may hold a password.
	if (place >= 0) return refuse(`argument ${place + 1}`, "write it in UTF-8");
	const names = partsOf("/proc/self/environ")
		.filter((bytes) => !isUtf8(bytes))
		.map((bytes) => bytes.toString().split("=")[0] ?? "");
	const own = names.find((name) => READ_HERE.test(name));
	if (own !== undefined) return refuse(`environment ${own}`, "set it in UTF-8");
	const others = names.filter((name) => !HARMLESS.includes(name));
	if (isLaunch && others.length > 0) {
		say(
			`warning: environment ${others.join(", ")}: not UTF-8, and Node cannot pass on other bytes; workers get U+FFFD in their place`,
		);
	}
	return undefined;
}

function refuse(what: string, fix: string): number {
	say(`${what} is not UTF-8, and Node cannot pass on other bytes; ${fix}`);
	return EXIT_CODES.usage;
}

/** Empty without a /proc. */
function partsOf(file: string): readonly Buffer[] {
	try {
		// Each byte is one character, and the other way round.
		const text = readFileSync(file, "latin1").replace(/\0$/, "");
		return text.split("\0").map((part) => Buffer.from(part, "latin1"));
	} catch {
		return [];
	}
}
