const SECRET_NAME = /pass|token|secret|key|credential|authorization|cookie/i;
const PASSWORD_IN_URL = /(:\/\/[^\s:/@]*):[^\s/@]+@/g;

const REDACTED = "(redacted)";

/** A variable's value as it may be shown: hidden if its name suggests a secret, and without the password of a URL. */
export function hideSecret(name: string, value: string): string {
	return SECRET_NAME.test(name)
		? REDACTED
		: value.replaceAll(PASSWORD_IN_URL, `$1:${REDACTED}@`);
}
