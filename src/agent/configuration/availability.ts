import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

const notYet = (what: string, instead: string) =>
	`${what} is not available in this version; ${instead}`;

/** Refuses runs over several machines, which are valid but not built yet. */
export function refuseWhatIsNotAvailable(
	reader: SettingReader,
	asked: { readonly maxNodes: number; readonly backend: "etcd" | "memory" },
): void {
	const { nnodes, rdzvBackend, rdzvEndpoint } = OPTIONS;
	if (asked.maxNodes > 1) {
		reader.refuse(
			nnodes,
			notYet(`${reader.textOf(nnodes)}: a run of more than one node`, "use 1"),
		);
	}
	if (asked.backend === "memory") return;
	for (const option of [rdzvBackend, rdzvEndpoint]) {
		const text = reader.textOf(option);
		if (text === undefined) continue;
		reader.refuse(
			option,
			notYet(`${text}: the etcd backend`, "leave it out to run on one machine"),
		);
	}
}

/** Refuses the policies that are not built yet. */
export function refusePolicyNotAvailable(
	reader: SettingReader,
	name: string,
): boolean {
	if (name === "hard") return false;
	reader.refuse(OPTIONS.restartPolicy, notYet(name, "use hard"));
	return true;
}
