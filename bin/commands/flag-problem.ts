import { messageOf } from "../../src/base/errors.js";
import { didYouMean } from "../../src/base/nearest-name.js";

/** Node's message quotes the flag: `'-f, --follow'` or `'--output <value>'`. */
const TYPED = /'(?:-\w, )?(-{1,2}[^' ]+)/;

/**
 * The error of `parseArgs` in words, with the fix.
 * @param names the known flags, without dashes
 */
export function flagProblem(error: unknown, names: readonly string[]): string {
	const message = messageOf(error);
	const typed = TYPED.exec(message)?.[1] ?? "";
	const code = error instanceof Error && "code" in error ? error.code : "";
	switch (code) {
		case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
			if (typed === "-=")
				return "a flag of one letter takes no =; use its name";
			return `unknown option ${typed}${didYouMean(
				typed,
				names.map((name) => `--${name}`),
			)}`;
		case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
			return message.includes("does not take an argument")
				? `${typed} takes no value; use ${typed} alone`
				: `${typed}: its value is missing or begins with a dash; use ${typed}=VALUE`;
		case "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL":
			return `it takes flags only; leave out ${/'(.*)'/s.exec(message)?.[1] ?? "the rest"}`;
		default:
			return message;
	}
}
