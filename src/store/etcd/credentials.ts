import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { attempt } from "../../base/attempt.js";
import type { Credentials, Tls } from "./etcd-client.js";

/** Where credentials came from, by absolute path. */
export interface CredentialFiles {
	readonly password?: string | undefined;
	readonly ca?: string | undefined;
	readonly cert?: string | undefined;
	readonly key?: string | undefined;
}

interface KnownCredentials {
	readonly login?: Credentials | undefined;
	readonly tls?: Tls | undefined;
	readonly files?: CredentialFiles | undefined;
}

/**
 * Credentials that are renewed while a run goes on: their files are read again each time that they are needed. What
 * cannot be used, because somebody is about to write it, leaves the last ones valid.
 */
export class RenewedCredentials {
	private known: KnownCredentials;

	constructor(first: KnownCredentials) {
		this.known = first;
	}

	/** For the next login; undefined: none. */
	get login(): Credentials | undefined {
		const { login, files } = this.known;
		const text = read(files?.password)?.toString("utf8");
		const password = text && withoutLineEnd(text);
		if (login && password) {
			this.known = { ...this.known, login: { ...login, password } };
		}
		return this.known.login;
	}

	/** For the next connection; undefined: without TLS. */
	get tls(): Tls | undefined {
		const { tls, files } = this.known;
		if (tls === undefined || files === undefined) return tls;
		const ca = read(files.ca);
		const [cert, key] = [read(files.cert), read(files.key)];
		const renewed = {
			...tls,
			...(ca && certificateIn(ca) && { ca }),
			...(cert && key && belongsTo(cert, key) && { cert, key }),
		};
		this.known = { ...this.known, tls: renewed };
		return renewed;
	}
}

/** Editors end a file with a line break. */
function withoutLineEnd(text: string): string {
	return text.replace(/\r?\n$/, "");
}

/** Undefined if it cannot be read; a pipe can be read only once. */
function read(path: string | undefined): Buffer | undefined {
	if (path === undefined) return undefined;
	return attempt(() =>
		statSync(path).isFile() ? readFileSync(path) : undefined,
	);
}

function belongsTo(cert: Buffer, key: Buffer): boolean {
	const certificate = certificateIn(cert);
	const fits = () => certificate?.checkPrivateKey(createPrivateKey(key));
	return attempt(fits) ?? false;
}

function certificateIn(content: Buffer): X509Certificate | undefined {
	return attempt(() => new X509Certificate(content));
}
