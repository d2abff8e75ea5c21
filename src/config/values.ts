import { nearestName } from "../base/nearest-name.js";
import { isObject } from "../base/shape.js";
import { type Option, toCamelCase } from "./option.js";
import { ALL_OPTIONS } from "./options.js";
import { inWords, ok, type Parsed, problem } from "./parse/scalars.js";
import type { Setting, SourceReading } from "./settings.js";

/** Converts a value from a config file or a `LaunchConfig` to the command line's notation. */
function valueAsText(option: Option<unknown>, value: unknown): Parsed<string> {
	const accepts = (form: Option<unknown>["forms"][number]) =>
		option.forms.includes(form);
	if (typeof value === "string") return ok(value);
	if (typeof value === "number" && accepts("number")) return ok(String(value));
	if (typeof value === "boolean" && accepts("boolean")) {
		return ok(value ? "1" : "0");
	}
	if (Array.isArray(value) && accepts("list") && value.every(isScalar)) {
		return ok(value.join(","));
	}
	if (Array.isArray(value) && accepts("lines") && value.every(isScalar)) {
		return ok(value.join("\n"));
	}
	if (isObject(value) && accepts("map")) {
		const pairs = Object.entries(value);
		const odd = pairs.find(([, entry]) => !isScalar(entry));
		if (odd === undefined) {
			return ok(pairs.map((pair) => pair.join(option.pairSign)).join(","));
		}
		const [key, entry] = odd;
		return problem(
			`${key}: expected a number or a text, got ${describe(entry)}`,
		);
	}
	const quotes =
		typeof value === "number" && option.argument !== undefined
			? "; put it in quotation marks"
			: "";
	return problem(
		`expected ${inWords(formsInWords(option))}, got ${describe(value)}${quotes}`,
	);
}

/** Where a set of values stands. */
interface ValuesPlace {
	placeOf(key: string): string;
	/** Its source in the dry run. */
	readonly origin: string;
	/** Keys that are refused here, each with the reason or the alternative. */
	readonly refusedKeys: ReadonlyMap<string, string>;
}

/** The settings among the values of a config file or a `LaunchConfig`; `undefined` counts as missing. */
export function settingsFromValues(
	values: Readonly<Record<string, unknown>>,
	place: ValuesPlace,
): SourceReading {
	const settings = new Map<string, Setting>();
	const problems: string[] = [];
	for (const [typed, value] of Object.entries(values)) {
		if (value === undefined) continue;
		const option = OPTION_OF_KEY.get(toCamelCase(typed));
		const refusal = place.refusedKeys.get(option?.key ?? toCamelCase(typed));
		if (option === undefined || refusal !== undefined) {
			const words = refusal ?? `is not known here; ${suggestKey(typed)}`;
			problems.push(`${place.placeOf(typed)}: ${words}`);
			continue;
		}
		const text = valueAsText(option, value);
		if (!("value" in text)) {
			problems.push(
				...text.problems.map((words) => `${place.placeOf(typed)}: ${words}`),
			);
		} else if (settings.has(option.key)) {
			problems.push(`${place.placeOf(typed)}: is set twice; set it once`);
		} else {
			settings.set(option.key, {
				text: text.value,
				place: place.placeOf(typed),
				origin: place.origin,
			});
		}
	}
	return { settings, problems };
}

const OPTION_OF_KEY = new Map<string, Option<unknown>>(
	ALL_OPTIONS.flatMap((option) =>
		option.keys.map((key): [string, Option<unknown>] => [key, option]),
	),
);

function suggestKey(typed: string): string {
	const nearest = nearestName(toCamelCase(typed), OPTION_OF_KEY.keys());
	return nearest === undefined
		? "use the flags of elastic-run --help, in camelCase"
		: `did you mean ${nearest}?`;
}

function isScalar(value: unknown): value is string | number {
	return typeof value === "string" || typeof value === "number";
}

const FORM_WORDS = {
	number: "a number",
	boolean: "true or false",
	list: "a list",
	lines: "a list",
	map: "a map",
};

function formsInWords(option: Option<unknown>): string[] {
	const forms = option.forms.map((form) => FORM_WORDS[form]);
	return option.argument === undefined ? forms : [...forms, "a text"];
}

/** Describes the given value, for "expected …" messages. */
export function describe(value: unknown): string {
	if (Array.isArray(value)) return "a list";
	if (isObject(value)) return "a map";
	if (typeof value === "function") return "a function";
	return typeof value === "bigint" || typeof value === "symbol"
		? String(value)
		: String(JSON.stringify(value));
}
