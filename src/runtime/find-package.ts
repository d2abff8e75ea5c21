/**
 * `node --import <this file> train.js`: lets a script whose project has no elastic-run import `elastic-run/runtime` from
 * the launcher's package, as Python scripts can. The launcher adds it if needed. A project's own elastic-run always comes
 * first.
 */
import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";
import { type HookContext, isMissing, isOwnName } from "./own-package.js";

/** The answer of Node's hooks: a module's location. */
interface Resolved {
	readonly url: string;
	readonly shortCircuit?: boolean;
}

type Next = (specifier: string, context: HookContext) => Resolved;

/** Node 22.15 and later: for `import` and `require`, in this thread. */
type RegisterHooks = (hooks: {
	resolve(specifier: string, context: HookContext, next: Next): Resolved;
}) => void;

/** How `require` finds a file. Node has no public hook for it before 22.15. */
type FindFile = (request: string, ...rest: unknown[]) => string;
const FIND_FILE = "_resolveFilename";

const ownRequire = nodeModule.createRequire(import.meta.url);
const registerHooks: unknown = Reflect.get(nodeModule, "registerHooks");
if (isFunction<RegisterHooks>(registerHooks)) registerHooks({ resolve });
else registerInOldNode();

function resolve(
	specifier: string,
	context: HookContext,
	next: Next,
): Resolved {
	const fromHere = () =>
		context.conditions?.includes("require")
			? // It ignores another parent.
				{
					url: pathToFileURL(ownRequire.resolve(specifier)).href,
					shortCircuit: true,
				}
			: next(specifier, { ...context, parentURL: import.meta.url });
	return orElse(specifier, () => next(specifier, context), fromHere);
}

function registerInOldNode(): void {
	nodeModule.register("./find-package-hooks.js", import.meta.url);
	const findFile: unknown = Reflect.get(nodeModule.Module, FIND_FILE);
	if (!isFunction<FindFile>(findFile)) return;
	const find: FindFile = (request, ...rest) =>
		orElse(
			request,
			() => findFile(request, ...rest),
			() => ownRequire.resolve(request),
		);
	Reflect.set(nodeModule.Module, FIND_FILE, find);
}

function orElse<Result>(
	specifier: string,
	fromThere: () => Result,
	fromHere: () => Result,
): Result {
	if (!isOwnName(specifier)) return fromThere();
	try {
		return fromThere();
	} catch (error) {
		if (!isMissing(error)) throw error;
		return fromHere();
	}
}

function isFunction<Type>(value: unknown): value is Type {
	return typeof value === "function";
}
