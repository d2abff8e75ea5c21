import { readdirSync, readlinkSync } from "node:fs";

/** What a process holds open: paths, or names such as "socket:[4711]". What it closes meanwhile is left out. */
export function openFilesOf(pid: number): readonly string[] {
	const folder = `/proc/${pid}/fd`;
	return readdirSync(folder).flatMap((name) => {
		try {
			return readlinkSync(`${folder}/${name}`);
		} catch {
			return [];
		}
	});
}
