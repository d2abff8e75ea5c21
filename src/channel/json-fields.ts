/** The fields of an untrusted JSON object. Every getter throws an error that names the field. */
export class JsonFields {
	private readonly values: ReadonlyMap<string, unknown>;

	private constructor(object: object) {
		this.values = new Map(Object.entries(object));
	}

	static parse(text: string): JsonFields {
		const value: unknown = JSON.parse(text);
		return JsonFields.of(value, "the message");
	}

	private static of(value: unknown, name: string): JsonFields {
		if (typeof value !== "object" || value === null || Array.isArray(value)) {
			throw new TypeError(`${name} is not a JSON object`);
		}
		return new JsonFields(value);
	}

	object(name: string): JsonFields {
		return JsonFields.of(this.values.get(name), name);
	}

	optionalObject(name: string): JsonFields | undefined {
		return this.values.get(name) === undefined ? undefined : this.object(name);
	}

	/** A whole number, at least 0. */
	integer(name: string): number {
		const value = this.number(name);
		if (!Number.isSafeInteger(value) || value < 0) {
			throw new TypeError(`${name} is not a whole number`);
		}
		return value;
	}

	number(name: string): number {
		const value = this.values.get(name);
		if (typeof value !== "number") throw new TypeError(`${name} is no number`);
		return value;
	}

	optionalNumber(name: string): number | undefined {
		return this.values.get(name) === undefined ? undefined : this.number(name);
	}

	text(name: string): string {
		const value = this.values.get(name);
		if (typeof value !== "string") throw new TypeError(`${name} is no string`);
		return value;
	}

	optionalText(name: string): string | undefined {
		return this.values.get(name) === undefined ? undefined : this.text(name);
	}

	nullableNumber(name: string): number | null {
		return this.values.get(name) === null ? null : this.number(name);
	}

	nullableText(name: string): string | null {
		return this.values.get(name) === null ? null : this.text(name);
	}

	oneOf<const T extends string | number | null>(
		name: string,
		allowed: readonly T[],
	): T {
		const value = this.values.get(name);
		const found = allowed.find((candidate) => candidate === value);
		if (found === undefined) {
			throw new TypeError(
				`${name} is not one of ${allowed.map(String).join(", ")}`,
			);
		}
		return found;
	}

	/** All fields but one, as a plain object. */
	without(name: string): { [field: string]: unknown } {
		const { [name]: _, ...others } = Object.fromEntries(this.values);
		return others;
	}
}
