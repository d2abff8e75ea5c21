/** What a text turned out to be: a value, or what is wrong with it, in words that end with the fix. */
export type Parsed<T> =
	| { readonly value: T }
	| { readonly problems: readonly [string, ...string[]] };

export function ok<T>(value: T): Parsed<T> {
	return { value };
}

export function problem(words: string): Parsed<never> {
	return { problems: [words] };
}

/** The usual refusal: the text, and what is allowed. */
export function invalid(text: string, allowed: string): Parsed<never> {
	return problem(`${quote(text)} is not valid; use ${allowed}`);
}

/** A text in quotation marks, with control characters made visible. */
export function quote(text: string): string {
	return JSON.stringify(text);
}

/** The value, or the problems of every part, in order. */
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
