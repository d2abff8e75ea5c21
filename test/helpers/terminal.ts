import { existsSync } from "node:fs";
import type { Launch, LaunchSite } from "./launch.js";

const ESCAPE = "\u001b";
const SCRIPT = "/usr/bin/script";

/** The rows of a terminal after all of this, as far as it understands what is drawn over; their ends only. */
export function screenAfter(text: string): readonly string[] {
	const rows: string[] = [];
	let row = 0;
	// Each control sequence of what is drawn ends with a letter.
	for (const part of text.replaceAll(/\r?\n/g, `${ESCAPE}[1N`).split(ESCAPE)) {
		const [, count = "", letter = "", rest = ""] =
			/^\[\??(\d*)([a-zA-Z])(.*)$/s.exec(part) ?? [];
		if (letter === "A") row -= Number(count);
		if (letter === "N") row += 1;
		if (letter === "J") rows.length = row;
		const written = (letter === "" ? part : rest).replaceAll("\r", "");
		if (written !== "") rows[row] = written;
	}
	return rows;
}

/** Whether script(1) of util-linux is here, which makes terminals. */
export const HAS_TERMINALS = existsSync(SCRIPT);

/** Starts a command of `sh` behind a terminal of its own, which ends with the command's exit code. */
export function onTerminal(
	site: LaunchSite,
	command: string,
	env: Readonly<Record<string, string>>,
): Launch {
	return site.start(SCRIPT, ["-qec", command, "/dev/null"], {
		stdin: true,
		env: { SHELL: "/bin/sh", ...env },
	});
}
