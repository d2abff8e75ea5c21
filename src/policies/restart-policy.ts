/** The built-in policies by name. */
export const RestartPolicy = {
	/** Any change of the world restarts all workers. */
	HARD: "hard",
	/** Survivors keep their processes; the node of a failed worker restarts all its workers. */
	SOFT: "soft",
	/** Survivors keep their processes; only the failed worker is restarted. */
	SOFT_REPLACE: "soft-replace",
} as const;

export type RestartPolicy = (typeof RestartPolicy)[keyof typeof RestartPolicy];
