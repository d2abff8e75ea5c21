/** The exit codes that a user can choose. */
export interface ExitCodeConfig {
	/** Of an agent whose node should be replaced. */
	readonly replaceNode: number;
	/** Of an agent that should be started again. */
	readonly restart: number;
	/** A failed run exits with the exit code of its root cause. */
	readonly isPropagated: boolean;
}

/** What is run before a node joins. */
export interface PreflightConfig {
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
