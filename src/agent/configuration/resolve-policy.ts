import type { RestartPolicyStrategy } from "../../policies/strategy.js";
import { refusePolicyNotAvailable } from "./availability.js";
import { asPolicy, loadPolicy } from "./load-policy.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

/** The policy that was handed over or named; undefined, and reported, where it is none. */
export async function resolvePolicy(
	reader: SettingReader,
	request: {
		readonly policy?: unknown;
		readonly cwd: string;
	},
): Promise<RestartPolicyStrategy | undefined> {
	const { restartPolicy } = OPTIONS;
	const choice = reader.value(restartPolicy);
	if (!reader.sound(restartPolicy)) return undefined;
	if (
		request.policy === undefined &&
		"name" in choice &&
		refusePolicyNotAvailable(reader, choice.name)
	) {
		return undefined;
	}
	const policy =
		request.policy === undefined
			? await loadPolicy(choice, request.cwd)
			: asPolicy(request.policy, "the object");
	if ("value" in policy) return policy.value;
	for (const words of policy.problems) reader.refuse(restartPolicy, words);
	return undefined;
}
