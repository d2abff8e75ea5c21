import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Whether a text is the token, in a time that says nothing of where it differs. */
export function isToken(text: string | undefined, token: string): boolean {
	return text !== undefined && timingSafeEqual(digest(text), digest(token));
}

/**
 * What a browser keeps in place of the token. It opens the page and nothing
 * else, and the token does not follow from it.
 */
export function passOf(token: string): string {
	return createHmac("sha256", token)
		.update("elastic-run page")
		.digest("base64url");
}

/** The token of `Authorization: Bearer TOKEN`; undefined where there is none. */
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
