/**
 * Tells the user something that is no error. `problem` names what it is about, where
 * messages that differ may be about the same.
 */
export type Warn = (message: string, problem?: string) => void;

/** A process that runs for weeks does not keep all that it ever said: the oldest may be said again. */
const KEPT_PROBLEMS = 4096;

/** Passes one message about each different problem on. */
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
