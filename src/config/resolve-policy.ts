import { RestartPolicy } from "../policies/restart-policy.js";
import type { AgentConfig } from "./agent-config.js";
import { asPolicy, loadPolicy, policyDigest } from "./load-policy.js";
import { OPTIONS } from "./options.js";
import type { Report, SettingReader } from "./settings.js";

type PolicyPart = Pick<AgentConfig, "policy" | "policyId">;

/** The given policy, object or name. Reports a problem and returns undefined if it is not valid. */
export async function resolvePolicy(
	reader: SettingReader,
	request: {
		readonly policy?: unknown;
		readonly cwd: string;
	},
	warn: Report,
): Promise<PolicyPart | undefined> {
	const { restartPolicy } = OPTIONS;
	const choice = reader.value(restartPolicy);
	if (!reader.sound(restartPolicy)) return undefined;
	const loaded =
		request.policy === undefined
			? await loadPolicy(choice, request.cwd)
			: asPolicy(request.policy, "the object");
	if ("value" in loaded) {
		const policy = loaded.value;
		const isFile = request.policy === undefined && "file" in choice;
		const policyId = isFile
			? `${policy.name} ${await policyDigest(choice.file, request.cwd)}`
			: policy.name;
		if (policyId === RestartPolicy.HARD) warnOfPauses(reader, warn);
		return { policy, policyId };
	}
	for (const words of loaded.problems) reader.refuse(restartPolicy, words);
	return undefined;
}

function warnOfPauses(reader: SettingReader, warn: Report): void {
	const { pauseTimeout } = OPTIONS;
	if (reader.textOf(pauseTimeout) === undefined) return;
	warn(
		`${reader.placeOf(pauseTimeout)}: without effect with the policy hard, which pauses no worker; use the policy soft or soft-replace, or leave it out`,
	);
}
