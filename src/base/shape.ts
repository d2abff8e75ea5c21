/** Describes a value that does not fit: what it is, where it stands, and what is allowed there. */
export interface Misfit {
	/** "cause.root.exitCode"; empty for the whole value. */
	path: string;
	readonly value: unknown;
	readonly allowed: string;
}

/** Collects what a shape refuses. A value that fits allocates nothing. */
export interface Verdict {
	misfit?: Misfit;
}

/**
 * Whether an unchecked value has the type T. Puts the first misfit into the verdict. It copies nothing: with valibot, whose
 * schemas copy each value that they check, a thousand records took 1.8 times as long to read.
 */
export type Shape<T> = (value: unknown, verdict: Verdict) => value is T;

/** The type of the values that a shape allows. */
export type Infer<Of> = Of extends Shape<infer T> ? T : never;

interface Shapes {
	readonly [name: string]: Shape<unknown>;
}

type MayBeAbsent<Parts, Name extends keyof Parts> =
	undefined extends Infer<Parts[Name]> ? Name : never;

/** An object with these fields; what may be undefined may be absent. */
export type Fields<Parts> = Flat<
	{
		readonly [Name in keyof Parts as Exclude<
			Name,
			MayBeAbsent<Parts, Name>
		>]: Infer<Parts[Name]>;
	} & {
		readonly [Name in keyof Parts as MayBeAbsent<Parts, Name>]?: Infer<
			Parts[Name]
		>;
	}
>;

type Flat<T> = { [Name in keyof T]: T[Name] };

/** Checks the fields of a record together. Returns the wrong field and what it allows. */
export type Rule<T> = (
	record: T,
) => { readonly field: keyof T & string; readonly allowed: string } | undefined;

/** A value without parts. */
export function plain<T>(
	allowed: string,
	fits: (value: unknown) => value is T,
): Shape<T> {
	return (value, verdict): value is T =>
		fits(value) || refuse(verdict, value, allowed);
}

/** A whole number within these bounds. */
export function whole(least: number, most: number): Shape<number> {
	return plain(
		`a whole number from ${least} to ${most}`,
		(value): value is number =>
			Number.isSafeInteger(value) && isWithin(value, least, most),
	);
}

/** Any number within these bounds. */
export function amount(least: number, most: number): Shape<number> {
	return plain(`a number from ${least} to ${most}`, (value): value is number =>
		isWithin(value, least, most),
	);
}

export function text(longest: number): Shape<string> {
	return plain(
		`a string of at most ${longest} characters`,
		(value): value is string =>
			typeof value === "string" && value.length <= longest,
	);
}

export function matching(pattern: RegExp, allowed: string): Shape<string> {
	return plain(
		allowed,
		(value): value is string =>
			typeof value === "string" && pattern.test(value),
	);
}

export function oneOf<const T extends string | number | boolean>(
	...values: readonly T[]
): Shape<T> {
	return plain(
		values.map((value) => JSON.stringify(value)).join(" or "),
		(value): value is T => values.some((allowed) => allowed === value),
	);
}

export const flag: Shape<boolean> = oneOf(true, false);

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
	return (value, verdict): value is T | null =>
		value === null || shape(value, verdict);
}

/** A field that may be absent. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
	return (value, verdict): value is T | undefined =>
		value === undefined || shape(value, verdict);
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
	return (value, verdict): value is readonly T[] => {
		if (!Array.isArray(value)) return refuse(verdict, value, "a list");
		const index = value.findIndex((each) => !item(each, verdict));
		return index === -1 || within(verdict, `[${index}]`);
	};
}

/** An object whose keys all follow one pattern and whose values have one shape. */
export function mapOf<T>(
	key: Shape<string>,
	item: Shape<T>,
): Shape<Readonly<Record<string, T>>> {
	return (value, verdict): value is Readonly<Record<string, T>> => {
		if (!isObject(value)) return refuse(verdict, value, "an object");
		for (const [name, each] of Object.entries(value)) {
			if (!key(name, verdict)) return within(verdict, "a key of it");
			if (!item(each, verdict)) return within(verdict, name);
		}
		return true;
	};
}

/** An object with these known fields. Other fields are ignored. */
export function fields<Parts extends Shapes>(
	shapes: Parts,
	rule: Rule<Fields<Parts>> = () => undefined,
): Shape<Fields<Parts>> {
	type T = Fields<Parts>;
	const known: readonly [string, Shape<unknown>][] = Object.entries(shapes);
	const hasFields = (value: unknown, verdict: Verdict): value is T => {
		if (!isObject(value)) return refuse(verdict, value, "an object");
		for (const [name, shape] of known) {
			if (!shape(value[name], verdict)) return within(verdict, name);
		}
		return true;
	};
	return (value, verdict): value is T => {
		if (!hasFields(value, verdict)) return false;
		const broken = rule(value);
		if (broken === undefined) return true;
		refuse(verdict, value[broken.field], broken.allowed);
		return within(verdict, broken.field);
	};
}

export function isObject(
	value: unknown,
): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWithin(value: unknown, least: number, most: number): boolean {
	return typeof value === "number" && value >= least && value <= most;
}

function refuse(verdict: Verdict, value: unknown, allowed: string): false {
	verdict.misfit = { path: "", value, allowed };
	return false;
}

/** Puts the misfit into this part of the value. */
function within({ misfit }: Verdict, part: string): false {
	if (misfit !== undefined) {
		const { path } = misfit;
		const joint = path === "" || path.startsWith("[") ? "" : ".";
		misfit.path = `${part}${joint}${path}`;
	}
	return false;
}
