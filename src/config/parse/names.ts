import { allOf, ok, type Parsed } from "./parsed.js";
import { parseName } from "./scalars.js";

/** Names with commas or line breaks between them; returns each once, in alphabetical order. */
export function parseNames(text: string): Parsed<readonly string[]> {
	const parts = text.split(/[,\n]/).map((part) => parseName(part.trim()));
	const names = allOf(parts);
	return "value" in names ? ok([...new Set(names.value)].sort()) : names;
}
