// Checkpoints on disk: written so that a kill at any point leaves the old or the new file, read with their checksum.
import { createHash } from "node:crypto";
import {
	closeSync,
	fstatSync,
	fsyncSync,
	openSync,
	readSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { ElasticRunError, systemErrorCode } from "../errors.js";
import { bytesOf, createTypedArray } from "./checkpoint-arrays.js";
import {
	type CheckpointHeader,
	DIGEST_BYTES,
	decodeHeader,
	decodePreamble,
	PREAMBLE_BYTES,
} from "./checkpoint-format.js";
import { decodeState } from "./checkpoint-state.js";

/** The steps of a save, in their order. Tests end the process at each. */
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

/** Written, read and hashed at a time: neither system calls nor hashes take more than 2 GiB. */
const CHUNK_BYTES = 2 ** 24;

/** Puts a whole file in place and returns its size in bytes. The temporary file is gone if it throws. */
export function writeFileAtomically(
	directory: string,
	name: string,
	temporaryName: string,
	parts: Iterable<Uint8Array>,
	onStep: (step: SaveStep) => void,
): number {
	const temporary = join(directory, temporaryName);
	let bytes = 0;
	try {
		const fd = openSync(temporary, "wx");
		onStep("temporary file open");
		try {
			for (const part of parts) {
				writeFully(fd, part);
				bytes += part.length;
				onStep("part written");
			}
			onStep("written");
			fsyncSync(fd);
			onStep("synced");
		} finally {
			closeSync(fd);
		}
		renameSync(temporary, join(directory, name));
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
	onStep("renamed");
	syncDirectory(directory);
	onStep("directory synced");
	return bytes;
}

/** The parts of a file in chunks, and last the checksum of them all. */
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

/** Makes renames and links of a directory durable, where its file system knows how to. */
export function syncDirectory(directory: string): void {
	const fd = openSync(directory, "r");
	try {
		fsyncSync(fd);
	} catch (error) {
		const code = systemErrorCode(error);
		if (code !== "EINVAL" && code !== "ENOTSUP") throw error;
	} finally {
		closeSync(fd);
	}
}

/** What a checkpoint file holds. Throws an ElasticRunError where it is damaged, and the system's error where it cannot be read. */
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

/** Reads a file from its beginning on and keeps the checksum of what it read. */
class DigestingReader {
	readonly #fd: number;
	readonly #hash = createHash("sha256");
	#left: number;

	constructor(fd: number, fileBytes: number) {
		this.#fd = fd;
		this.#left = fileBytes;
	}

	read(bytes: number): Buffer {
		if (bytes > this.#left) this.#fail("it ends too early");
		const buffer = Buffer.alloc(bytes);
		this.fill(buffer);
		return buffer;
	}

	fill(target: Uint8Array): void {
		for (const chunk of chunksOf(target)) {
			this.#readFully(chunk);
			this.#hash.update(chunk);
		}
	}

	verifyDigest(): void {
		const stored = Buffer.alloc(DIGEST_BYTES);
		this.#readFully(stored);
		if (!stored.equals(this.#hash.digest())) {
			this.#fail("its checksum does not match what it holds");
		}
	}

	#readFully(target: Uint8Array): void {
		for (let done = 0; done < target.length; ) {
			const count = readSync(
				this.#fd,
				target,
				done,
				target.length - done,
				null,
			);
			if (count === 0) this.#fail("it ends too early");
			done += count;
		}
		this.#left -= target.length;
	}

	#fail(problem: string): never {
		throw new ElasticRunError("CHECKPOINT", problem);
	}
}

function writeFully(fd: number, bytes: Uint8Array): void {
	for (let done = 0; done < bytes.length; ) {
		done += writeSync(fd, bytes, done);
	}
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
	for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
		yield bytes.subarray(start, start + CHUNK_BYTES);
	}
}
