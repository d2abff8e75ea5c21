import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AWS_VARIABLE } from "./aws.js";
import { AZURE_VARIABLE } from "./azure.js";
import { GCP_VARIABLE } from "./gcp.js";

export type CloudName = "aws" | "gcp" | "azure";

/** What the firmware says of a machine. */
export type Firmware = Readonly<
	Record<"sys_vendor" | "bios_version" | "chassis_asset_tag", string>
>;

const FIRMWARE = "/sys/class/dmi/id";
/** The tag of all of Azure's machines; other machines of Hyper-V have none. */
const AZURE_TAG = "7783-7084-3265-9085-8269-3286-77";

/** A cloud to ask for notices. */
export interface Hint {
	readonly cloud: CloudName;
	/** The environment names its server, so an answer is expected. */
	readonly isNamed: boolean;
}

/** The clouds whose server is worth asking: those that the environment names, else that of the firmware. */
export function hintsOf(
	environment: Readonly<Record<string, string | undefined>>,
	firmware: Firmware,
): readonly Hint[] {
	const named = [
		["aws", AWS_VARIABLE] as const,
		["gcp", GCP_VARIABLE] as const,
		["azure", AZURE_VARIABLE] as const,
	].flatMap(([cloud, variable]) =>
		environment[variable] ? [{ cloud, isNamed: true }] : [],
	);
	if (named.length > 0) return named;
	const cloud = cloudOf(firmware);
	return cloud === undefined ? [] : [{ cloud, isNamed: false }];
}

function cloudOf(firmware: Firmware): CloudName | undefined {
	const { sys_vendor, bios_version, chassis_asset_tag } = firmware;
	if (sys_vendor.startsWith("Amazon EC2")) return "aws";
	// Older machines of EC2 are Xen's.
	if (bios_version.endsWith(".amazon")) return "aws";
	if (sys_vendor === "Google") return "gcp";
	return chassis_asset_tag === AZURE_TAG ? "azure" : undefined;
}

/** What cannot be read is empty: a container may hide it. */
export async function readFirmware(folder = FIRMWARE): Promise<Firmware> {
	const read = (name: keyof Firmware) =>
		readFile(join(folder, name), "utf8").then(
			(text) => text.trim(),
			() => "",
		);
	return {
		sys_vendor: await read("sys_vendor"),
		bios_version: await read("bios_version"),
		chassis_asset_tag: await read("chassis_asset_tag"),
	};
}
