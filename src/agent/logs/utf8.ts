/** How many bytes the character takes that a lead byte opens; 0 for a byte that opens none. */
function announcedLength(lead: number): number {
	if (lead >= 0xc2 && lead <= 0xdf) return 2;
	if (lead >= 0xe0 && lead <= 0xef) return 3;
	if (lead >= 0xf0 && lead <= 0xf4) return 4;
	return lead < 0x80 ? 1 : 0;
}

/** The length of the UTF-8 character at `at`, or 0 where the bytes are none. */
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

/** `end`, or the start of the character that input[start, end) holds only the beginning of. */
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
