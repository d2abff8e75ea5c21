/** The length in bytes of the character that a lead byte opens; 0 if it opens none. */
function announcedLength(lead: number): number {
	if (lead >= 0xc2 && lead <= 0xdf) return 2;
	if (lead >= 0xe0 && lead <= 0xef) return 3;
	if (lead >= 0xf0 && lead <= 0xf4) return 4;
	return lead < 0x80 ? 1 : 0;
}

/** The length of the UTF-8 character at `at`, or 0 if the bytes are invalid. */
export function characterLength(
	input: Uint8Array,
	at: number,
	end: number,
): number {
	const length = announcedLength(input[at] ?? 0);
	if (at + length > end) return 0;
	for (let next = at + 1; next < at + length; next += 1) {
		if (((input[next] ?? 0) & 0xc0) !== 0x80) return 0;
	}
	return length;
}

/**
 * Whether the character beyond ASCII at input[at, next) is a C1 control (perhaps a single byte), or changes the text
 * direction, which would disguise the text.
 */
export function isInvisibleControl(
	input: Uint8Array,
	at: number,
	next: number,
): boolean {
	const first = input[at] ?? 0;
	const last = input[next - 1] ?? 0;
	const length = next - at;
	if (length === 1) return last < 0xa0;
	if (length === 2) {
		return (first === 0xc2 && last < 0xa0) || (first === 0xd8 && last === 0x9c);
	}
	if (length !== 3 || first !== 0xe2) return false;
	const middle = input[at + 1];
	// U+200E, U+200F, U+202A to U+202E, and U+2066 to U+2069.
	if (middle === 0x81) return last >= 0xa6 && last <= 0xa9;
	return (
		middle === 0x80 &&
		(last === 0x8e || last === 0x8f || (last >= 0xaa && last <= 0xae))
	);
}

/** `end`, or the start of the incomplete character at the end of input[start, end). */
export function cutBetweenCharacters(
	input: Uint8Array,
	start: number,
	end: number,
): number {
	for (let at = end - 1; at > start && at >= end - 3; at -= 1) {
		const byte = input[at] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		return at + announcedLength(byte) > end ? at : end;
	}
	return end;
}
