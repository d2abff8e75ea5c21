import { didYouMean } from "../../base/nearest-name.js";
import { RestartPolicy } from "../../policies/restart-policy.js";
import { ok, type Parsed, problem, quote } from "./parsed.js";

const BUILT_IN: readonly RestartPolicy[] = Object.values(RestartPolicy);

/** A built-in policy, or the file of the user's own. */
export type PolicyChoice =
	| { readonly name: RestartPolicy }
	| { readonly file: string };

/** A word is a policy's name; a path or a module's file name is a file. */
export function parsePolicy(text: string): Parsed<PolicyChoice> {
	const name = BUILT_IN.find((known) => known === text);
	if (name !== undefined) return ok({ name });
	if (/[/\\]|\.[cm]?[jt]s$/.test(text)) return ok({ file: text });
	return problem(
		`${quote(text)} is unknown; use hard, soft, soft-replace or the path of a module${didYouMean(text, BUILT_IN)}`,
	);
}
