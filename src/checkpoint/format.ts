/**
 * The layout of a checkpoint file. Pure.
 *
 *   8 bytes    "ERCKPT1\n"
 *   4 bytes    length of the header, unsigned, little-endian
 *   n bytes    header: JSON, UTF-8
 *   …          the sections, one after the other, in the order of the header
 *   32 bytes   SHA-256 of all bytes before
 *
 * Parameters never become text: what is written is the memory of the arrays.
 */
import { endianness } from "node:os";
import { ElasticRunError, messageOf } from "../base/errors.js";
import {
	bytesPerElement,
	isTypedArrayName,
	type TypedArrayName,
} from "./arrays.js";
import type { CheckpointPosition } from "./order.js";
import type { EncodedState } from "./state.js";

const MAGIC = "ERCKPT1\n";
export const PREAMBLE_BYTES = MAGIC.length + 4;
export const DIGEST_BYTES = 32;

export interface CheckpointSection {
	readonly type: TypedArrayName;
	/** Number of elements. */
	readonly length: number;
}

export interface CheckpointHeader extends CheckpointPosition {
	readonly version: 1;
	/** Milliseconds since 1970. */
	readonly savedAt: number;
	/** The byte order of the machine that wrote the sections. */
	readonly endianness: string;
	readonly sections: readonly CheckpointSection[];
	readonly state: unknown;
}

/** Everything before the sections. */
export function encodeHeader(
	position: CheckpointPosition,
	savedAt: number,
	state: EncodedState,
): Uint8Array {
	const { instance, round, step } = position;
	const header: CheckpointHeader = {
		version: 1,
		instance,
		round,
		step,
		savedAt,
		endianness: endianness(),
		sections: state.sections.map((array) => ({
			type: array[Symbol.toStringTag],
			length: array.length,
		})),
		state: state.tree,
	};
	const json = Buffer.from(JSON.stringify(header));
	const preamble = Buffer.alloc(PREAMBLE_BYTES);
	preamble.write(MAGIC, "latin1");
	preamble.writeUInt32LE(json.length, MAGIC.length);
	return Buffer.concat([preamble, json]);
}

export function decodePreamble(preamble: Buffer): number {
	if (preamble.toString("latin1", 0, MAGIC.length) !== MAGIC) {
		damaged("it does not begin like a checkpoint");
	}
	return preamble.readUInt32LE(MAGIC.length);
}

/** The header, if it is valid and fits the size of the file. */
export function decodeHeader(
	json: Buffer,
	fileBytes: number,
): CheckpointHeader {
	const header = parse(json);
	if (!isHeader(header)) damaged("its header lacks a field");
	const expected = fileBytesOf(json.length, header.sections);
	if (expected !== fileBytes) {
		damaged(`it has ${fileBytes} bytes of ${expected}`);
	}
	if (header.endianness !== endianness()) {
		damaged(
			`it was written by a machine of byte order ${header.endianness}, this one is ${endianness()}`,
		);
	}
	return header;
}

function fileBytesOf(
	headerBytes: number,
	sections: readonly CheckpointSection[],
): number {
	return sections.reduce(
		(bytes, { type, length }) => bytes + length * bytesPerElement(type),
		PREAMBLE_BYTES + headerBytes + DIGEST_BYTES,
	);
}

function parse(json: Buffer): unknown {
	try {
		return JSON.parse(json.toString());
	} catch (error) {
		return damaged(`its header is no JSON (${messageOf(error)})`);
	}
}

function isHeader(value: unknown): value is CheckpointHeader {
	if (typeof value !== "object" || value === null) return false;
	const header: Partial<Record<keyof CheckpointHeader, unknown>> = value;
	return (
		header.version === 1 &&
		Number.isSafeInteger(header.instance) &&
		Number.isSafeInteger(header.round) &&
		Number.isSafeInteger(header.step) &&
		Number.isFinite(header.savedAt) &&
		typeof header.endianness === "string" &&
		Array.isArray(header.sections) &&
		header.sections.every(isSection) &&
		"state" in header
	);
}

function isSection(value: unknown): value is CheckpointSection {
	if (typeof value !== "object" || value === null) return false;
	const section: Partial<Record<keyof CheckpointSection, unknown>> = value;
	return (
		isTypedArrayName(section.type) &&
		typeof section.length === "number" &&
		Number.isSafeInteger(section.length) &&
		section.length >= 0
	);
}

function damaged(problem: string): never {
	throw new ElasticRunError("CHECKPOINT", problem);
}
