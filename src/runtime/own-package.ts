/** Node's description of the requesting module for a hook. */
export interface HookContext {
	readonly parentURL?: string | undefined;
	/** Contains "require" for a request by CommonJS. */
	readonly conditions?: readonly string[];
}

/** Whether a module requests something of this package by its name. */
export function isOwnName(specifier: string): boolean {
	return specifier === "elastic-run" || specifier.startsWith("elastic-run/");
}

/** Whether the requesting module does not have this package, by `import` or by `require`. */
export function isMissing(error: unknown): boolean {
	return (
		error instanceof Error &&
		"code" in error &&
		(error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND")
	);
}
