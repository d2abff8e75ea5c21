import { statfsSync } from "node:fs";

/** The magic numbers of statfs(2), from linux/magic.h and the file systems' own sources. */
const NETWORK_FILE_SYSTEMS = new Map([
	[0x6969, "NFS"],
	[0x517b, "SMB"],
	[0xff534d42, "CIFS"],
	[0xfe534d42, "SMB2"],
	[0x65735546, "FUSE"],
	[0x01021997, "9p"],
	[0x5346414f, "AFS"],
	[0x6b414653, "kAFS"],
	[0x00c36400, "Ceph"],
	[0x0bd00bd0, "Lustre"],
	[0x47504653, "GPFS"],
	[0x19830326, "BeeGFS"],
	[0x73757245, "Coda"],
	[0x7461636f, "OCFS2"],
	[0x01161970, "GFS2"],
]);

/**
 * The name of the network file system at a path; undefined for a local one. Change notifications are not reliable on
 * network file systems.
 */
export function networkFileSystemOf(path: string): string | undefined {
	return process.platform === "linux"
		? networkFileSystemName(statfsSync(path).type)
		: undefined;
}

/** Looks the magic number up. statfs returns some of them sign-extended. */
export function networkFileSystemName(magic: number): string | undefined {
	return NETWORK_FILE_SYSTEMS.get(magic >>> 0);
}
