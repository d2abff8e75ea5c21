/** The hooks that `find-package` registers in Node before 22.15, which calls them in a separate thread. */
import { type HookContext, isMissing, isOwnName } from "./own-package.js";

type Next = (specifier: string, context: HookContext) => Promise<unknown>;

export async function resolve(
	specifier: string,
	context: HookContext,
	next: Next,
): Promise<unknown> {
	if (!isOwnName(specifier)) return next(specifier, context);
	try {
		return await next(specifier, context);
	} catch (error) {
		if (!isMissing(error)) throw error;
		return next(specifier, { ...context, parentURL: import.meta.url });
	}
}
