// Converts a trainer's state to a JSON tree with binary sections, and back. Pure.
import { ElasticRunError } from "../base/errors.js";
import { isTypedArray, type TypedArray } from "./arrays.js";

/**
 * Everything that a trainer needs to continue exactly where it was. These five fields are required: a resume without one
 * of them silently trains something else. A trainer without such a thing sets it to null. Any other field (an optimizer's
 * moments, a learning rate's schedule) is stored as well.
 *
 * Values may be null, booleans, strings, numbers (NaN, infinities and -0 too), bigints, typed arrays, and arrays and
 * plain objects of these.
 */
export interface CheckpointState {
	/** Steps completed, from 0. */
	readonly step: number;
	/** Passes over the data completed, from 0. */
	readonly epoch: number;
	/** State of the random number generators. */
	readonly generator: unknown;
	/** The position in the data. */
	readonly dataPosition: unknown;
	/** The model's parameters by name. */
	readonly parameters: Readonly<Record<string, TypedArray>>;
}

/** An encoded state. In the tree, `{"$": ["section", 0]}` stands for the first typed array. */
export interface EncodedState {
	readonly tree: unknown;
	readonly sections: readonly TypedArray[];
}

/** Marks values that JSON lacks, as `{"$": [kind, value]}`. A user's object with a key "$" is marked as well. */
const TAG = "$";

/** Throws an ElasticRunError that names the field if a state is incomplete or holds an unsupported value. */
export function encodeState(state: CheckpointState): EncodedState {
	requireFields(state);
	const encoder = new Encoder();
	return { tree: encoder.encode(state, "state"), sections: encoder.sections };
}

/** The inverse of `encodeState`. */
export function decodeState(
	tree: unknown,
	sections: readonly TypedArray[],
): unknown {
	if (Array.isArray(tree)) {
		return tree.map((item) => decodeState(item, sections));
	}
	if (!isObject(tree)) return tree;
	const tagged = tree[TAG];
	if (!Array.isArray(tagged)) return decodeFields(tree, sections);
	const [kind, value] = tagged;
	switch (kind) {
		// What Python's torch.save wrote stays bytes here.
		case "torch":
		case "section":
			return sections[Number(value)];
		case "tuple":
			return decodeState(value, sections);
		case "number":
			return Number(value);
		case "bigint":
			return BigInt(String(value));
		default:
			return decodeFields(Object(value), sections);
	}
}

function decodeFields(
	fields: Readonly<Record<string, unknown>>,
	sections: readonly TypedArray[],
): unknown {
	return mapFields(fields, (value) => decodeState(value, sections));
}

class Encoder {
	readonly sections: TypedArray[] = [];
	/** The objects around the present one, to find cycles. */
	private readonly ancestors = new Set<object>();

	encode(value: unknown, path: string): unknown {
		switch (typeof value) {
			case "boolean":
			case "string":
				return value;
			case "number":
				return encodeNumber(value);
			case "bigint":
				return { [TAG]: ["bigint", String(value)] };
			case "object":
				return value === null ? null : this.encodeObject(value, path);
			default:
				return refuse(path, typeof value);
		}
	}

	private encodeObject(value: object, path: string): unknown {
		if (isTypedArray(value)) {
			this.sections.push(value);
			return { [TAG]: ["section", this.sections.length - 1] };
		}
		if (this.ancestors.has(value)) {
			return fail(path, "contains itself: save it without the cycle");
		}
		this.ancestors.add(value);
		const encoded = this.encodeContents(value, path);
		this.ancestors.delete(value);
		return encoded;
	}

	private encodeContents(value: object, path: string): unknown {
		if (Array.isArray(value)) {
			return Array.from(value, (item, index) =>
				this.encode(item, `${path}[${index}]`),
			);
		}
		if (!isPlainObject(value)) {
			return refuse(path, value.constructor?.name || "an unnamed class");
		}
		const fields = mapFields(value, (child, key) =>
			this.encode(child, `${path}.${key}`),
		);
		return Object.hasOwn(fields, TAG) ? { [TAG]: ["object", fields] } : fields;
	}
}

function encodeNumber(value: number): unknown {
	if (Object.is(value, -0)) return { [TAG]: ["number", "-0"] };
	return Number.isFinite(value) ? value : { [TAG]: ["number", String(value)] };
}

function requireFields(state: CheckpointState): void {
	for (const field of ["step", "epoch"] as const) {
		if (!Number.isSafeInteger(state[field]) || state[field] < 0) {
			fail(`state.${field}`, `is ${state[field]}: give a whole number from 0`);
		}
	}
	for (const field of ["generator", "dataPosition"] as const) {
		if (state[field] === undefined) {
			fail(
				`state.${field}`,
				"is missing, and a trainer that resumes without it continues differently: give it, or null if there is none",
			);
		}
	}
	if (!isObject(state.parameters)) {
		fail("state.parameters", "must be an object of typed arrays by name");
	}
	for (const [name, value] of Object.entries(state.parameters)) {
		if (!isTypedArray(value)) {
			fail(`state.parameters.${name}`, "must be a typed array");
		}
	}
}

/** Undefined fields are omitted, as everywhere in JSON. */
function mapFields(
	fields: Readonly<Record<string, unknown>>,
	change: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(fields)
			.filter(([, value]) => value !== undefined)
			.map(([key, value]) => [key, change(value, key)]),
	);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return (
		typeof value === "object" &&
		value !== null &&
		!Array.isArray(value) &&
		!ArrayBuffer.isView(value)
	);
}

/** Objects of another realm count: their prototype ends its chain. */
function isPlainObject(value: object): value is Record<string, unknown> {
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refuse(path: string, kind: string): never {
	return fail(
		path,
		`is of type ${kind}, which a checkpoint cannot keep: turn it into plain objects, arrays, numbers, strings or typed arrays`,
	);
}

function fail(path: string, problem: string): never {
	throw new ElasticRunError(
		"CHECKPOINT",
		`Nothing was saved: ${path} ${problem}.`,
	);
}
