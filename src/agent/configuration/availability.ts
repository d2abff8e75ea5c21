import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

/** Refuses the policies that are not built yet. */
export function refusePolicyNotAvailable(
	reader: SettingReader,
	name: string,
): boolean {
	if (name === "hard") return false;
	reader.refuse(
		OPTIONS.restartPolicy,
		`${name} is not available in this version; use hard`,
	);
	return true;
}
