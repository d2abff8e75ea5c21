import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files, in PEM, as etcd and its clients take them. */
export interface Certificates {
	/** Of the authority that both sides trust. */
	readonly cacert: string;
	/** A client's. */
	readonly cert: string;
	readonly key: string;
	/** The server's, for 127.0.0.1 and localhost. */
	readonly serverCert: string;
	readonly serverKey: string;
}

const SERVER = "subjectAltName=IP:127.0.0.1,DNS:localhost";
/** The server is a client as well: its JSON gateway calls itself. */
const USAGE = "extendedKeyUsage=serverAuth,clientAuth";

function openssl(...args: readonly string[]): void {
	execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}

function newKey(folder: string, name: string): readonly string[] {
	return [
		...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
		...["-keyout", join(folder, `${name}.key`)],
		...["-subj", `/O=elastic-run/OU=${name}`],
	];
}

function sign(
	folder: string,
	name: string,
	extensions: readonly string[],
): void {
	const file = (kind: string) => join(folder, `${name}.${kind}`);
	writeFileSync(file("ext"), `${extensions.join("\n")}\n`);
	openssl("req", ...newKey(folder, name), "-out", file("csr"));
	openssl(
		...["x509", "-req", "-in", file("csr"), "-out", file("crt")],
		...["-CA", join(folder, "ca.crt"), "-CAkey", join(folder, "ca.key")],
		...["-CAcreateserial", "-days", "1", "-extfile", file("ext")],
	);
}

/** Writes another certificate and key of the client over those that it has. */
export function renewClient({ cert }: Certificates): void {
	sign(dirname(cert), "client", [USAGE]);
}

/** A list of revoked certificates in this folder, which has an authority of its own: etcd asks for no other. */
export class Revocations {
	readonly file: string;

	constructor(private readonly folder: string) {
		this.file = join(folder, "revoked.pem");
		openssl(
			...["req", "-x509", ...newKey(folder, "ca"), "-days", "1"],
			...["-out", join(folder, "ca.crt")],
		);
		const index = join(folder, "index");
		writeFileSync(index, "");
		writeFileSync(
			join(folder, "ca.conf"),
			`[ca]\ndefault_ca=own\n[own]\ndatabase=${index}\ndefault_md=sha256\ndefault_crl_days=1\n`,
		);
		this.ca("-gencrl", "-out", this.file);
	}

	revoke(cert: string): void {
		this.ca("-revoke", cert);
		this.ca("-gencrl", "-out", this.file);
	}

	private ca(...args: readonly string[]): void {
		openssl(
			...["ca", "-config", join(this.folder, "ca.conf")],
			...["-keyfile", join(this.folder, "ca.key")],
			...["-cert", join(this.folder, "ca.crt"), ...args],
		);
	}
}

export function hasOpenssl(): boolean {
	try {
		execFileSync("openssl", ["version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/**
 * An authority of its own, and what it signed, in files of this folder; valid for a day. Nobody has
 * a common name: with authentication on, etcd would take it for a user, and its JSON gateway refuse it.
 */
export function makeCertificates(folder: string): Certificates {
	const file = (name: string) => join(folder, name);
	const cacert = file("ca.crt");
	const newCa = newKey(folder, "ca");
	openssl("req", "-x509", ...newCa, "-days", "1", "-out", cacert);
	sign(folder, "server", [SERVER, USAGE]);
	sign(folder, "client", [USAGE]);
	return {
		cacert,
		cert: file("client.crt"),
		key: file("client.key"),
		serverCert: file("server.crt"),
		serverKey: file("server.key"),
	};
}
