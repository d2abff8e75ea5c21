/** A parsed value, or what is wrong with the text and how to fix it. */
export type Parsed<T> =
	| { readonly value: T }
	| { readonly problems: readonly [string, ...string[]] };

export function ok<T>(value: T): Parsed<T> {
	return { value };
}

export function problem(words: string): Parsed<never> {
	return { problems: [words] };
}

/** The usual refusal: the text and the allowed values. */
export function invalid(text: string, allowed: string): Parsed<never> {
	return problem(`${quote(text)} is not valid; use ${allowed}`);
}

/** A text in quotation marks, with visible control characters. */
export function quote(text: string): string {
	return JSON.stringify(text);
}

/** All values, or all problems, in order. */
export function allOf<T>(parts: readonly Parsed<T>[]): Parsed<readonly T[]> {
	const values: T[] = [];
	const problems: string[] = [];
	for (const part of parts) {
		if ("value" in part) values.push(part.value);
		else problems.push(...part.problems);
	}
	const [first, ...others] = problems;
	return first === undefined ? ok(values) : { problems: [first, ...others] };
}

export function mapParsed<T, U>(
	parsed: Parsed<T>,
	change: (value: T) => U,
): Parsed<U> {
	return "value" in parsed ? ok(change(parsed.value)) : parsed;
}
