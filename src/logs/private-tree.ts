import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	renameSync,
	rmdirSync,
	type Stats,
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import { exists, pointLatest } from "./latest-link.js";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const APPEND =
	constants.O_WRONLY |
	constants.O_APPEND |
	constants.O_CREAT |
	constants.O_NOFOLLOW;
/** Enough to detect a full disk or a used-up quota. */
const PROBE_BYTES = 64 * 1024;

export interface AppendedFile {
	readonly fd: number;
	/** Its size before, in bytes. */
	readonly startBytes: number;
}

/**
 * Directories (0700) and files (0600) below one root, never through a symbolic link or another user's directory. It
 * changes nothing that exists, and can remove what it made and what is still empty.
 */
export class PrivateTree {
	readonly root: string;
	/** Functions that remove what was made, oldest first. */
	private undo: (() => void)[] = [];
	/** The parent of the last directory made. */
	private parent = "";

	private constructor(
		root: string,
		/** The root was not chosen by the user, so it must belong to this user alone. */
		private readonly isTemporary = false,
	) {
		this.root = root;
	}

	/** Below `root`, which is made if missing and may itself be a link. */
	static at(root: string): PrivateTree {
		const tree = new PrivateTree(root);
		tree.makeRoot(root);
		if (!statSync(root).isDirectory()) throw problem("ENOTDIR", root);
		return tree;
	}

	/** Below a new directory whose name starts with `prefix`. */
	static temporary(prefix: string): PrivateTree {
		const tree = new PrivateTree(mkdtempSync(prefix), true);
		tree.undo.push(() => rmdirSync(tree.root));
		return tree;
	}

	/** Makes what is missing of a path below the root, and returns it. */
	makeDirectory(...segments: readonly string[]): string {
		const path = this.makeParents(...segments);
		this.makeOrCheck(path);
		return path;
	}

	/** Makes the missing parents of a path below the root, and returns the path. */
	makeParents(...segments: readonly string[]): string {
		const path = join(this.root, ...segments);
		const parent = dirname(path);
		// Of several siblings only the first checks all parents.
		if (parent !== this.parent || !exists(parent)) {
			this.makeAll(segments.slice(0, -1));
			this.parent = parent;
		}
		return path;
	}

	/** The path of a directory below the root. Throws unless it and each of its parents is still the one that was made. */
	find(...segments: readonly string[]): string {
		this.checkRoot();
		let path = this.root;
		for (const segment of segments) {
			path = join(path, segment);
			this.check(path);
		}
		return path;
	}

	/** Opens a file for appending. An existing one must be a regular file. */
	append(path: string): AppendedFile {
		const before = lstatSync(path, { throwIfNoEntry: false });
		if (before && !before.isFile()) throw problem("ELOOP", path);
		const fd = openSync(path, APPEND, FILE_MODE);
		if (!before) this.undo.push(() => removeIfEmpty(path));
		return { fd, startBytes: fstatSync(fd).size };
	}

	/** Renames a file of an earlier worker to `<name>.<n><extension>`, so that the name is free. */
	setAside(directory: string, name: string, extension: string): void {
		const path = join(directory, name + extension);
		if (!exists(path)) return;
		let number = 1;
		const older = () => join(directory, `${name}.${number}${extension}`);
		while (exists(older())) number += 1;
		renameSync(path, older());
	}

	/** Points `latest` in this directory to the target, unless it points to a newer number. */
	pointLatest(directory: string, target: string): void {
		const undo = pointLatest(directory, target);
		if (undo) this.undo.push(undo);
	}

	/** Throws if the directory cannot be written, has no space, or refuses a file of some length. */
	probe(directory: string): void {
		const path = join(directory, `.probe-${process.pid}`);
		const fd = openSync(path, APPEND | constants.O_EXCL, FILE_MODE);
		try {
			// After a partial write the next one throws the reason.
			for (let left = PROBE_BYTES; left > 0; ) {
				left -= writeSync(fd, Buffer.alloc(left));
			}
		} finally {
			closeSync(fd);
			unlinkSync(path);
		}
	}

	/** Keeps everything made so far. */
	keep(): void {
		this.undo = [];
	}

	/** Removes what was made and is empty. The given files are removed first, whatever they hold. */
	discard(...files: readonly string[]): void {
		const steps = this.undo.splice(0);
		steps.push(...files.map((file) => () => unlinkSync(file)));
		for (const step of steps.reverse()) {
			try {
				step();
			} catch {
				// Others use it, or it is gone already: both are fine.
			}
		}
	}

	private makeRoot(path: string): void {
		try {
			if (!this.make(path)) return;
		} catch (error) {
			const parent = dirname(path);
			if (systemErrorCode(error) !== "ENOENT" || parent === path) throw error;
			this.makeRoot(parent);
			this.make(path);
		}
	}

	private makeAll(segments: readonly string[]): void {
		// Somebody may remove the directory during a run.
		if (!exists(this.root)) this.makeRoot(this.root);
		// Another user may have taken the name meanwhile.
		this.checkRoot();
		let path = this.root;
		for (const segment of segments) {
			path = join(path, segment);
			this.makeOrCheck(path);
		}
	}

	private makeOrCheck(path: string): void {
		if (!this.make(path)) this.check(path);
	}

	/** False if the name exists. */
	private make(path: string): boolean {
		try {
			mkdirSync(path, DIRECTORY_MODE);
		} catch (error) {
			if (systemErrorCode(error) === "EEXIST") return false;
			throw error;
		}
		this.undo.push(() => rmdirSync(path));
		return true;
	}

	private checkRoot(): void {
		if (this.isTemporary) requirePrivate(this.root);
	}

	/** The user trusts the owner of the root that they chose. Nobody else may own what is below. */
	private check(path: string): void {
		requireOwnedBy(path, [process.geteuid?.(), statSync(this.root).uid]);
	}
}

function removeIfEmpty(path: string): void {
	if (lstatSync(path).size === 0) unlinkSync(path);
}

const PROBLEMS = {
	ELOOP: "is a symbolic link or no regular file",
	ENOTDIR: "is not a directory",
	EPERM: "belongs to another user, or others can reach it",
} as const;
const OTHERS = 0o077;

/** A path's problem as an error in the system's format. */
function problem(code: keyof typeof PROBLEMS, path: string): Error {
	return Object.assign(new Error(`${path} ${PROBLEMS[code]}`), { code });
}

/** Throws unless it is a directory (not a link to one) of one of these users. */
function requireOwnedBy(
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
function requirePrivate(path: string): void {
	const { mode } = requireOwnedBy(path, [process.geteuid?.()]);
	if ((mode & OTHERS) !== 0) throw problem("EPERM", path);
}
