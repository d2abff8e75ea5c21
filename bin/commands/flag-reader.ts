import type { Parsed } from "../../src/config/parse/parsed.js";
import type { Settings } from "../../src/config/settings.js";
import type { CommandName } from "./command-table.js";

/** Reads the values of a command's own flags, and collects what is wrong with them. */
export class FlagReader {
	readonly problems: string[] = [];

	constructor(
		private readonly command: CommandName,
		private readonly flags: Settings,
	) {}

	/** The value, or undefined if the flag was not given or its value is invalid. */
	read<T>(name: string, parse: (text: string) => Parsed<T>): T | undefined {
		const given = this.flags.get(name);
		if (given === undefined) return undefined;
		const parsed = parse(given.text);
		if ("value" in parsed) return parsed.value;
		this.refuse(...parsed.problems.map((words) => `${given.place}: ${words}`));
		return undefined;
	}

	refuse(...problems: readonly string[]): void {
		this.problems.push(...problems.map((words) => `${this.command}: ${words}`));
	}
}
