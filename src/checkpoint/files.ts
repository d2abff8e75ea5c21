// Checkpoints on disk: written so that a kill at any point leaves the old or the new file, and read with their checksum.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ElasticRunError, systemErrorCode } from "../base/errors.js";
import { bytesOf, createTypedArray } from "./arrays.js";
import type { CheckpointDisk } from "./disk.js";
import {
	type CheckpointHeader,
	DIGEST_BYTES,
	decodeHeader,
	decodePreamble,
	PREAMBLE_BYTES,
} from "./format.js";
import { decodeState } from "./state.js";

/** The steps of a save, in order. Tests end the process at each. */
export type SaveStep =
	| "started"
	| "temporary file open"
	| "part written"
	| "written"
	| "synced"
	| "renamed"
	| "directory synced"
	| "pruning"
	| "pruned";

/** The size of a read, write or hash: neither system calls nor hashes take more than 2 GiB. */
const CHUNK_BYTES = 2 ** 24;

/** Puts a whole file in place and returns its size in bytes. If it throws, the temporary file is gone. */
export function writeFileAtomically(
	disk: CheckpointDisk,
	directory: string,
	names: { readonly name: string; readonly temporary: string },
	parts: Iterable<Uint8Array>,
	onStep: (step: SaveStep) => void,
): number {
	const temporary = join(directory, names.temporary);
	let bytes = 0;
	try {
		bytes = writeDurably(disk, temporary, parts, onStep);
		disk.rename(temporary, join(directory, names.name));
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
	onStep("renamed");
	syncDirectory(disk, directory);
	onStep("directory synced");
	return bytes;
}

/** Writes a new file and returns its size in bytes. Its content is on disk then, perhaps not its name. */
export function writeDurably(
	disk: CheckpointDisk,
	path: string,
	parts: Iterable<Uint8Array>,
	onStep: (step: SaveStep) => void,
): number {
	let bytes = 0;
	const fd = disk.open(path, "wx");
	onStep("temporary file open");
	try {
		for (const part of parts) {
			writeFully(disk, fd, part);
			bytes += part.length;
			onStep("part written");
		}
		onStep("written");
		disk.sync(fd);
		onStep("synced");
	} finally {
		disk.close(fd);
	}
	return bytes;
}

/** The parts of a file in chunks, followed by their checksum. */
export function* withDigest(
	parts: Iterable<Uint8Array>,
): Generator<Uint8Array> {
	const hash = createHash("sha256");
	for (const part of parts) {
		for (const chunk of chunksOf(part)) {
			hash.update(chunk);
			yield chunk;
		}
	}
	yield hash.digest();
}

/** Makes renames and links in a directory durable, if its file system can. */
export function syncDirectory(disk: CheckpointDisk, directory: string): void {
	const fd = disk.open(directory, "r");
	try {
		disk.sync(fd);
	} catch (error) {
		const code = systemErrorCode(error);
		if (code !== "EINVAL" && code !== "ENOTSUP") throw error;
	} finally {
		disk.close(fd);
	}
}

/** The content of a checkpoint file. Throws an ElasticRunError if it is damaged, and the system's error if it is unreadable. */
export function readCheckpointFile(path: string): {
	readonly header: CheckpointHeader;
	readonly state: unknown;
	readonly bytes: number;
} {
	const fd = openSync(path, "r");
	try {
		const bytes = fstatSync(fd).size;
		const reader = new DigestingReader(fd, bytes);
		const headerBytes = decodePreamble(reader.read(PREAMBLE_BYTES));
		const header = decodeHeader(reader.read(headerBytes), bytes);
		const sections = header.sections.map(({ type, length }) => {
			const array = createTypedArray(type, length);
			reader.fill(bytesOf(array));
			return array;
		});
		reader.verifyDigest();
		return { header, state: decodeState(header.state, sections), bytes };
	} finally {
		closeSync(fd);
	}
}

/** Reads a file from its beginning and computes the checksum of what it has read. */
class DigestingReader {
	private readonly fd: number;
	private readonly hash = createHash("sha256");
	private left: number;

	constructor(fd: number, fileBytes: number) {
		this.fd = fd;
		this.left = fileBytes;
	}

	read(bytes: number): Buffer {
		if (bytes > this.left) this.fail("it ends too early");
		const buffer = Buffer.alloc(bytes);
		this.fill(buffer);
		return buffer;
	}

	fill(target: Uint8Array): void {
		for (const chunk of chunksOf(target)) {
			this.readFully(chunk);
			this.hash.update(chunk);
		}
	}

	verifyDigest(): void {
		const stored = Buffer.alloc(DIGEST_BYTES);
		this.readFully(stored);
		if (!stored.equals(this.hash.digest())) {
			this.fail("its checksum does not match what it holds");
		}
	}

	private readFully(target: Uint8Array): void {
		for (let done = 0; done < target.length; ) {
			const count = readSync(this.fd, target, done, target.length - done, null);
			if (count === 0) this.fail("it ends too early");
			done += count;
		}
		this.left -= target.length;
	}

	private fail(problem: string): never {
		throw new ElasticRunError("CHECKPOINT", problem);
	}
}

function writeFully(disk: CheckpointDisk, fd: number, bytes: Uint8Array): void {
	for (let done = 0; done < bytes.length; ) {
		done += disk.write(fd, bytes, done);
	}
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
	for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
		yield bytes.subarray(start, start + CHUNK_BYTES);
	}
}
