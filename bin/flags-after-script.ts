import { ALL_OPTIONS } from "../src/config/options.js";

/** Names that scripts often use for their own options. */
const COMMON_NAMES: readonly string[] = [
	"config",
	"dry-run",
	"log-dir",
	"output",
	"role",
];

/** Notes about launcher flags after the script, which go to the script. */
export function flagsAfterScript(
	script: string,
	args: readonly string[],
): string[] {
	if (!/\.([cm]?js|ts|py)$/.test(script)) return [];
	const end = args.indexOf("--");
	const candidates = end < 0 ? args : args.slice(0, end);
	return candidates.flatMap((word, index) => {
		const name = word
			.replace(/^--/, "")
			.replace(/=.*$/s, "")
			.replaceAll("_", "-");
		if (!word.startsWith("--") || COMMON_NAMES.includes(name)) return [];
		const option = ALL_OPTIONS.find(
			(known) => known.name === name || known.aliases.includes(name),
		);
		if (option === undefined) return [];
		const value =
			option.argument === undefined || word.includes("=")
				? []
				: args.slice(index + 1, index + 2);
		return [
			`"${[word, ...value].join(" ")}" follows the script and is passed to it; put it before ${script} if it is meant for elastic-run`,
		];
	});
}
