import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Whether a text is the token, in a time that does not depend on where they differ. */
export function isToken(text: string | undefined, token: string): boolean {
	return text !== undefined && timingSafeEqual(digest(text), digest(token));
}

/** The value of a browser's cookie. It opens only the page, and the token cannot be derived from it. */
export function passOf(token: string): string {
	return createHmac("sha256", token)
		.update("elastic-run page")
		.digest("base64url");
}

/** The token of `Authorization: Bearer TOKEN`; undefined if there is none. */
export function bearerOf(authorization: string | undefined) {
	return /^Bearer +([!-~]+) *$/i.exec(authorization ?? "")?.[1];
}

/** The value of one cookie of a `Cookie` header. */
export function cookieOf(
	header: string | undefined,
	name: string,
): string | undefined {
	const prefix = `${name}=`;
	return header
		?.split(";")
		.map((pair) => pair.trim())
		.find((pair) => pair.startsWith(prefix))
		?.slice(prefix.length);
}

function digest(text: string): Buffer {
	return createHash("sha256").update(text).digest();
}
