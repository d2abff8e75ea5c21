import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

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
	const openssl = (...args: readonly string[]) =>
		execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
	const newKey = (name: string) => [
		...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
		...["-keyout", file(`${name}.key`), "-subj", `/O=elastic-run/OU=${name}`],
	];
	const cacert = file("ca.crt");
	openssl("req", "-x509", ...newKey("ca"), "-days", "1", "-out", cacert);
	const sign = (name: string, extensions: readonly string[]) => {
		const [ask, extra] = [file(`${name}.csr`), file(`${name}.ext`)];
		writeFileSync(extra, `${extensions.join("\n")}\n`);
		openssl("req", ...newKey(name), "-out", ask);
		openssl(
			...["x509", "-req", "-in", ask, "-out", file(`${name}.crt`)],
			...["-CA", cacert, "-CAkey", file("ca.key"), "-CAcreateserial"],
			...["-days", "1", "-extfile", extra],
		);
	};
	sign("server", [SERVER, USAGE]);
	sign("client", [USAGE]);
	return {
		cacert,
		cert: file("client.crt"),
		key: file("client.key"),
		serverCert: file("server.crt"),
		serverKey: file("server.key"),
	};
}
