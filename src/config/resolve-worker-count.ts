import { countWorkers, listDeviceFiles } from "./count-devices.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

/** The number of workers. Reports a problem and returns 1 if it cannot be determined. */
export async function resolveWorkerCount(
	reader: SettingReader,
	request: {
		readonly environment: Readonly<Record<string, string | undefined>>;
	},
	host: Host,
): Promise<number> {
	const { nprocPerNode } = OPTIONS;
	const asked = reader.value(nprocPerNode);
	const counted = countWorkers(asked, {
		environment: request.environment,
		deviceFiles: typeof asked === "number" ? [] : await listDeviceFiles(),
		processors: host.processors,
	});
	if ("value" in counted) return counted.value;
	for (const words of counted.problems) reader.refuse(nprocPerNode, words);
	return 1;
}
