/** The result of one check. */
export interface Finding {
	/** The subject: "open files". */
	readonly check: string;
	/** `warning`: runs work, but slower or less safely. `problem`: they do not work. */
	readonly status: "ok" | "warning" | "problem";
	readonly message: string;
	/** What to do; undefined if all is well. */
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
