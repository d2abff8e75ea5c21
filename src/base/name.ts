/** A run id, node id or role: safe as a file name and as part of a key. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const NAME_WORDS =
	'letters, digits, ".", "_" and "-" (at most 128), a letter or digit first';
