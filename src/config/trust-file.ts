import type { Stats } from "node:fs";

const GROUP_MAY_WRITE = 0o020;
const ALL_MAY_WRITE = 0o002;

/**
 * Why another user may have written a file or directory, in words that follow its name; undefined if only this user and
 * root can have.
 */
export function distrust(
	name: string,
	{ uid: owner, mode }: Pick<Stats, "uid" | "mode">,
	uid: number | undefined,
): string | undefined {
	if (uid === undefined) return undefined;
	if (owner !== uid && owner !== 0) return `${name} belongs to user ${owner}`;
	const octal = (mode & 0o7777).toString(8).padStart(4, "0");
	if ((mode & ALL_MAY_WRITE) !== 0) {
		return `every user may write ${name} (mode ${octal})`;
	}
	if ((mode & GROUP_MAY_WRITE) !== 0) {
		return `other users of its group may write ${name} (mode ${octal})`;
	}
	return undefined;
}
