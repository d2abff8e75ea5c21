// The kinds of typed arrays that a checkpoint keeps as binary sections. Pure.

const TYPED_ARRAYS = {
	Int8Array,
	Uint8Array,
	Uint8ClampedArray,
	Int16Array,
	Uint16Array,
	Int32Array,
	Uint32Array,
	Float32Array,
	Float64Array,
	BigInt64Array,
	BigUint64Array,
} as const;

export type TypedArrayName = keyof typeof TYPED_ARRAYS;

/** Binary numbers: the type of model parameters. */
export type TypedArray =
	| Int8Array
	| Uint8Array
	| Uint8ClampedArray
	| Int16Array
	| Uint16Array
	| Int32Array
	| Uint32Array
	| Float32Array
	| Float64Array
	| BigInt64Array
	| BigUint64Array;

export function createTypedArray(
	name: TypedArrayName,
	length: number,
): TypedArray {
	return new TYPED_ARRAYS[name](length);
}

export function bytesPerElement(name: TypedArrayName): number {
	return TYPED_ARRAYS[name].BYTES_PER_ELEMENT;
}

export function isTypedArrayName(name: unknown): name is TypedArrayName {
	return typeof name === "string" && Object.hasOwn(TYPED_ARRAYS, name);
}

/** A Buffer is a Uint8Array and is stored as one. */
export function isTypedArray(value: unknown): value is TypedArray {
	return (
		ArrayBuffer.isView(value) &&
		isTypedArrayName(Object.prototype.toString.call(value).slice(8, -1))
	);
}

/** The bytes of an array, without a copy. */
export function bytesOf(array: TypedArray): Uint8Array {
	return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
