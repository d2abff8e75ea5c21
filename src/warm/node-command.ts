import { basename } from "node:path";

/** Options of Node that act while it starts on what the script may read or change, or begin to record at once, are not among these. */
const HARMLESS_OPTIONS = new Set(
	`--max-old-space-size --max-semi-space-size --max-heap-size --stack-size --stack-trace-limit --expose-gc
	--enable-source-maps --unhandled-rejections --conditions -C --no-warnings --no-deprecation --disable-warning
	--trace-warnings --trace-deprecation --trace-uncaught --throw-deprecation --pending-deprecation
	--experimental-vm-modules --preserve-symlinks --preserve-symlinks-main --experimental-strip-types
	--experimental-transform-types --dns-result-order --max-http-header-size --use-system-ca --use-openssl-ca
	--use-bundled-ca`.split(/\s+/),
);

/** Whether this command runs a script under Node with the launcher's hook, or Node itself. */
export function isForNode(
	{ file, args }: { readonly file: string; readonly args: readonly string[] },
	hook: string,
): boolean {
	return hookIndex(args, hook) !== -1 || /^node(js)?$/.test(basename(file));
}

/** In words, why a process for this command cannot wait before its script; undefined if it can. */
export function parkingProblem(
	args: readonly string[],
	hook: string,
	nodeOptions: string | undefined,
): string | undefined {
	if (hookIndex(args, hook) === -1) {
		return "the command starts Node itself: give elastic-run the script";
	}
	const option = (nodeOptions ?? "")
		.split(/\s+/)
		.map((word) => word.replaceAll('"', ""))
		.filter((word) => word.startsWith("-"))
		.find((word) => !HARMLESS_OPTIONS.has(nameOf(word)));
	return option === undefined
		? undefined
		: `NODE_OPTIONS has ${nameOf(option)}`;
}

/** V8 takes underscores as well. */
function nameOf(option: string): string {
	return option.split("=", 1).join("").replaceAll("_", "-");
}

/** Where the hook stands if Node loads it before all else: it runs what `--require` names before what `--import` names. */
function hookIndex(args: readonly string[], hook: string): number {
	const index = args.indexOf(hook);
	const before = args.slice(0, Math.max(0, index));
	const isFirst = before.every((word, at) =>
		at % 2 === 0
			? word === (at === index - 1 ? "--require" : "--import")
			: !word.startsWith("-"),
	);
	return index % 2 === 1 && isFirst ? index : -1;
}
