/** The built-in policies by name. */
export const RestartPolicy = {
	/** Any change of the world stops all workers and starts them anew. */
	HARD: "hard",
	/** Survivors keep their processes; a failed worker's node starts its workers anew. */
	SOFT: "soft",
	/** Survivors keep their processes; only the failed worker is started anew. */
	SOFT_REPLACE: "soft-replace",
} as const;

export type RestartPolicy = (typeof RestartPolicy)[keyof typeof RestartPolicy];
