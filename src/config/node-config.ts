/** The exit codes that a user can choose. */
export interface ExitCodeConfig {
	/** Of an agent whose node should be replaced. */
	readonly replaceNode: number;
	/** Of an agent that should be started again. */
	readonly restart: number;
	/** A failed run exits with the exit code of its root cause. */
	readonly isPropagated: boolean;
}

/** How a node is examined before it joins. */
export interface PreflightConfig {
	/** Of the built-in examination. `strict`: a finding keeps the node out. */
	readonly mode: "quick" | "strict" | "off";
	/** For `sh -c`; undefined: none. */
	readonly command: string | undefined;
	readonly timeoutMs: number;
}

/** What is run when a node is to be replaced. */
export interface ReplaceNodeConfig {
	/** For `sh -c`; undefined: none. */
	readonly command: string | undefined;
	readonly timeoutMs: number;
}
