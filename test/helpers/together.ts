import { messageOf } from "../../src/base/errors.js";

/**
 * Plays scenarios of one test at the same time: most of what they do is waiting.
 *
 * @throws Error that names the scenarios that failed, when all have ended.
 */
export async function together(
	scenarios: Readonly<Record<string, () => Promise<void>>>,
): Promise<void> {
	const errors: Error[] = [];
	await Promise.all(
		Object.entries(scenarios).map(async ([name, play]) => {
			try {
				await play();
			} catch (cause) {
				errors.push(new Error(`${name}: ${messageOf(cause)}`, { cause }));
			}
		}),
	);
	const [error] = errors;
	if (error === undefined) return;
	throw errors.length === 1
		? error
		: new AggregateError(errors, errors.map(messageOf).join("\n"));
}
