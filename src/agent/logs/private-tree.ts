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
	statSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../../errors.js";
import { exists, pointLatest } from "./latest-link.js";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const APPEND =
	constants.O_WRONLY |
	constants.O_APPEND |
	constants.O_CREAT |
	constants.O_NOFOLLOW;
/** Enough that a full disk or a spent quota shows. */
const PROBE_BYTES = 64 * 1024;

/** A file of the tree, open for appending. */
export interface AppendedFile {
	readonly fd: number;
	/** What it held before, in bytes. */
	readonly startBytes: number;
}

/**
 * Directories (0700) and files (0600) below one root, never through a
 * symbolic link or another user's directory. Nothing that is there already is
 * changed; what was made and is still empty can be taken back.
 */
export class PrivateTree {
	readonly root: string;
	/** How to take back what was made, in the order of making. */
	#undo: (() => void)[] = [];
	/** Where the last directory was made. */
	#parent = "";

	private constructor(root: string) {
		this.root = root;
	}

	/** Below `root`, which is made where it is missing and may itself be a link. */
	static at(root: string): PrivateTree {
		const tree = new PrivateTree(root);
		tree.#makeRoot(root);
		if (!statSync(root).isDirectory()) throw problem("ENOTDIR", root);
		return tree;
	}

	/** Below a fresh directory whose name starts with `prefix`. */
	static temporary(prefix: string): PrivateTree {
		const tree = new PrivateTree(mkdtempSync(prefix));
		tree.#undo.push(() => rmdirSync(tree.root));
		return tree;
	}

	/** Makes what is missing of a path below the root, and returns it. */
	makeDirectory(...segments: readonly string[]): string {
		const path = this.makeParents(...segments);
		this.#makeOrCheck(path);
		return path;
	}

	/** Makes what is missing above a path below the root, and returns the path. */
	makeParents(...segments: readonly string[]): string {
		const path = join(this.root, ...segments);
		const parent = dirname(path);
		// Of many siblings in a row only the first looks at all that is above them.
		if (parent !== this.#parent || !exists(parent)) {
			this.#makeAll(segments.slice(0, -1));
			this.#parent = parent;
		}
		return path;
	}

	/** The path of a directory below the root, if it, and each above it, is still what was made. Throws else. */
	find(...segments: readonly string[]): string {
		let path = this.root;
		for (const segment of segments) {
			path = join(path, segment);
			this.#check(path);
		}
		return path;
	}

	/** Opens a file for appending; it must be a regular one where it exists. */
	append(path: string): AppendedFile {
		const before = lstatSync(path, { throwIfNoEntry: false });
		if (before && !before.isFile()) throw problem("ELOOP", path);
		const fd = openSync(path, APPEND, FILE_MODE);
		if (!before) this.#undo.push(() => removeIfEmpty(path));
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

	/** Lets `latest` in this directory point to the target, unless a newer number stands there. */
	pointLatest(directory: string, target: string): void {
		const undo = pointLatest(directory, target);
		if (undo) this.#undo.push(undo);
	}

	/** Throws where the directory cannot be written, has no room, or takes no file of some length. */
	probe(directory: string): void {
		const path = join(directory, `.probe-${process.pid}`);
		const fd = openSync(path, APPEND | constants.O_EXCL, FILE_MODE);
		try {
			// Where it takes a part only, why is said when the rest is written.
			for (let left = PROBE_BYTES; left > 0; ) {
				left -= writeSync(fd, Buffer.alloc(left));
			}
		} finally {
			closeSync(fd);
			unlinkSync(path);
		}
	}

	/** Everything made so far stays. */
	keep(): void {
		this.#undo = [];
	}

	/** Takes back what was made and is empty; the given files go first, whatever they hold. */
	discard(...files: readonly string[]): void {
		const steps = this.#undo.splice(0);
		steps.push(...files.map((file) => () => unlinkSync(file)));
		for (const step of steps.reverse()) {
			try {
				step();
			} catch {
				// It is in use by others, or gone already: both are as they should be.
			}
		}
	}

	#makeRoot(path: string): void {
		try {
			if (!this.#make(path)) return;
		} catch (error) {
			const parent = dirname(path);
			if (systemErrorCode(error) !== "ENOENT" || parent === path) throw error;
			this.#makeRoot(parent);
			this.#make(path);
		}
	}

	#makeAll(segments: readonly string[]): void {
		// Somebody may tidy up while a run goes on.
		if (!exists(this.root)) this.#makeRoot(this.root);
		let path = this.root;
		for (const segment of segments) {
			path = join(path, segment);
			this.#makeOrCheck(path);
		}
	}

	#makeOrCheck(path: string): void {
		if (!this.#make(path)) this.#check(path);
	}

	/** False where something of that name exists. */
	#make(path: string): boolean {
		try {
			mkdirSync(path, DIRECTORY_MODE);
		} catch (error) {
			if (systemErrorCode(error) === "EEXIST") return false;
			throw error;
		}
		this.#undo.push(() => rmdirSync(path));
		return true;
	}

	/** Who chose the root trusts its owner; nobody else may have planted what is below. */
	#check(path: string): void {
		const found = lstatSync(path);
		if (found.isSymbolicLink()) throw problem("ELOOP", path);
		if (!found.isDirectory()) throw problem("ENOTDIR", path);
		const owners = [process.geteuid?.(), statSync(this.root).uid];
		if (!owners.includes(found.uid)) throw problem("EPERM", path);
	}
}

const PROBLEMS = {
	ELOOP: "is a symbolic link or no regular file",
	ENOTDIR: "is not a directory",
	EPERM: "belongs to another user",
} as const;

function problem(code: keyof typeof PROBLEMS, path: string): Error {
	return Object.assign(new Error(`${path} ${PROBLEMS[code]}`), { code });
}

function removeIfEmpty(path: string): void {
	if (lstatSync(path).size === 0) unlinkSync(path);
}
