/** What one check found. */
export interface Finding {
	/** What was looked at: "open files". */
	readonly check: string;
	/** `warning`: runs work, with something slower or less safe. `problem`: they do not. */
	readonly status: "ok" | "warning" | "problem";
	readonly message: string;
	/** What to do; undefined where all is well. */
	readonly fix?: string;
}

export function fine(check: string, message: string): Finding {
	return { check, status: "ok", message };
}

export function warning(check: string, message: string, fix: string): Finding {
	return { check, status: "warning", message, fix };
}

export function problem(check: string, message: string, fix: string): Finding {
	return { check, status: "problem", message, fix };
}
