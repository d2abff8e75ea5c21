import { lstatSync, type Stats } from "node:fs";

const PROBLEMS = {
	ELOOP: "is a symbolic link or no regular file",
	ENOTDIR: "is not a directory",
	EPERM: "belongs to another user, or others can reach it",
} as const;
const OTHERS = 0o077;

/** A path's problem as an error in the system's format. */
export function problem(code: keyof typeof PROBLEMS, path: string): Error {
	return Object.assign(new Error(`${path} ${PROBLEMS[code]}`), { code });
}

/** Throws unless it is a directory (not a link to one) of one of these users. */
export function requireOwnedBy(
	path: string,
	owners: readonly (number | undefined)[],
): Stats {
	const found = lstatSync(path);
	if (found.isSymbolicLink()) throw problem("ELOOP", path);
	if (!found.isDirectory()) throw problem("ENOTDIR", path);
	if (!owners.includes(found.uid)) throw problem("EPERM", path);
	return found;
}

/** Throws unless it is this user's directory and nobody else can enter it. */
export function requirePrivate(path: string): void {
	const { mode } = requireOwnedBy(path, [process.geteuid?.()]);
	if ((mode & OTHERS) !== 0) throw problem("EPERM", path);
}
