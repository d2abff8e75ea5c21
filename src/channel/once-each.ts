/** Warns the user. `problem` identifies the subject when different messages may be about the same thing. */
export type Warn = (message: string, problem?: string) => void;

/** A process that runs for weeks forgets the oldest problems; these may be reported again. */
const KEPT_PROBLEMS = 4096;

/** Passes on one message per problem. */
export function onceEach(warn: (message: string) => void): Warn {
	const said = new Set<string>();
	return (message, problem = message) => {
		if (said.has(problem)) return;
		const [oldest] = said;
		if (oldest !== undefined && said.size >= KEPT_PROBLEMS) said.delete(oldest);
		said.add(problem);
		warn(message);
	};
}
