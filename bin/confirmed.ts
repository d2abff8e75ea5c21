import { createInterface } from "node:readline";
import { isatty } from "node:tty";

const STDIN = 0;

/** Asks a question on the terminal. Only "y" and "yes" count as yes; without a terminal the answer is no. */
export async function confirmed(question: string): Promise<boolean> {
	if (!isatty(STDIN) || !process.stderr.isTTY) return false;
	const terminal = createInterface({
		input: process.stdin,
		output: process.stderr,
	});
	// The end of input is not a yes.
	const ended = new Promise<string>((resolve) => {
		terminal.once("close", () => resolve(""));
	});
	const answered = new Promise<string>((resolve) => {
		terminal.question(`elastic-run: ${question} [y/N] `, resolve);
	});
	const answer = await Promise.race([answered, ended]);
	terminal.close();
	return /^\s*y(es)?\s*$/i.test(answer);
}
