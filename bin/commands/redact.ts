const SECRET_NAME = /pass|token|secret|key|credential|authorization|cookie/i;
const PASSWORD_IN_URL = /(:\/\/[^\s:/@]*):[^\s/@]+@/g;

const REDACTED = "(redacted)";

/** A variable's value as it may be shown: nothing of one whose name speaks of a secret, and no password of a URL. */
export function redact(name: string, value: string): string {
	return SECRET_NAME.test(name)
		? REDACTED
		: value.replaceAll(PASSWORD_IN_URL, `$1:${REDACTED}@`);
}
