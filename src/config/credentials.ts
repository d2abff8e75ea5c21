import { createPrivateKey, X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { readSmallFile } from "../base/read-small-file.js";
import type { StoreCredentials } from "./agent-config.js";
import {
	type LoginVariables,
	PASSWORD_VARIABLE,
	USERNAME_VARIABLE,
} from "./environment.js";
import { OPTIONS } from "./options.js";
import type { RendezvousSettings } from "./parse/rendezvous.js";
import type { Report, SettingReader } from "./settings.js";

/** Reads the files that `--rdzv-conf` names. Refuses unusable files and credentials that do not fit together. */
export async function resolveCredentials(
	reader: SettingReader,
	conf: RendezvousSettings,
	context: {
		readonly cwd: string;
		readonly variables: LoginVariables;
		/** Whether the store uses TLS. */
		readonly isHttps: boolean;
	},
): Promise<StoreCredentials> {
	const { cwd, variables, isHttps } = context;
	const refuse = (words: string) => reader.refuse(OPTIONS.rdzvConf, words);
	const read = (name: string, file: string | undefined) =>
		readNamed(name, file, cwd, refuse);
	const [secret, ca, cert, key] = await Promise.all([
		read("password_file", conf.passwordFile),
		read("cacert", conf.caCert),
		read("cert", conf.cert),
		read("key", conf.key),
	]);
	checkCertificates(conf, { ca, cert, key }, refuse);
	const login = checkLogin(conf, secret, variables, refuse);
	const tls = {
		...(ca === undefined ? {} : { ca }),
		...(cert === undefined ? {} : { cert }),
		...(key === undefined ? {} : { key }),
	};
	const pathOf = (file: string | undefined) => file && resolve(cwd, file);
	const files = {
		password: pathOf(conf.passwordFile),
		ca: pathOf(conf.caCert),
		cert: pathOf(conf.cert),
		key: pathOf(conf.key),
	};
	return {
		...(login === undefined ? {} : { login }),
		...(isHttps ? { tls } : {}),
		...(Object.values(files).some(Boolean) && { files }),
	};
}

async function readNamed(
	name: string,
	file: string | undefined,
	cwd: string,
	refuse: Report,
): Promise<Buffer | undefined> {
	if (file === undefined) return undefined;
	const read = await readSmallFile(resolve(cwd, file));
	if ("content" in read) return read.content;
	refuse(`${name} ${file}: ${read.problem}`);
	return undefined;
}

function checkLogin(
	conf: RendezvousSettings,
	secret: Buffer | undefined,
	variables: LoginVariables,
	refuse: Report,
): StoreCredentials["login"] {
	const username = conf.username ?? variables.username;
	// Editors end a file with a line break.
	const inFile = secret?.toString("utf8").replace(/\r?\n$/, "");
	if (inFile === "") {
		refuse(`password_file ${conf.passwordFile}: is empty`);
		return undefined;
	}
	if (conf.passwordFile !== undefined && inFile === undefined) return undefined;
	const password = inFile ?? variables.password;
	if (username !== undefined && password !== undefined) {
		return { username, password };
	}
	if (username !== undefined) {
		refuse(
			`username ${username}: its password is missing; use password_file=FILE or the variable ${PASSWORD_VARIABLE}`,
		);
	} else if (password !== undefined) {
		const source = inFile === undefined ? PASSWORD_VARIABLE : "password_file";
		refuse(
			`${source}: whose password it is, is missing; use username=NAME or the variable ${USERNAME_VARIABLE}`,
		);
	}
	return undefined;
}

function checkCertificates(
	conf: RendezvousSettings,
	files: {
		readonly ca: Buffer | undefined;
		readonly cert: Buffer | undefined;
		readonly key: Buffer | undefined;
	},
	refuse: Report,
): void {
	if ((conf.cert === undefined) !== (conf.key === undefined)) {
		refuse(
			conf.cert === undefined
				? "key without cert; give both, cert=FILE,key=FILE, or none"
				: "cert without key; give both, cert=FILE,key=FILE, or none",
		);
	}
	if (files.ca !== undefined) {
		certificateOf(files.ca, `cacert ${conf.caCert}`, refuse);
	}
	const certificate =
		files.cert && certificateOf(files.cert, `cert ${conf.cert}`, refuse);
	const key = files.key && keyOf(files.key, `key ${conf.key}`, refuse);
	if (certificate && key && !certificate.checkPrivateKey(key)) {
		refuse(`key ${conf.key}: does not belong to cert ${conf.cert}`);
	}
}

function certificateOf(
	content: Buffer,
	what: string,
	refuse: Report,
): X509Certificate | undefined {
	try {
		return new X509Certificate(content);
	} catch {
		refuse(`${what}: holds no certificate; give a file in PEM format`);
		return undefined;
	}
}

function keyOf(content: Buffer, what: string, refuse: Report) {
	try {
		return createPrivateKey(content);
	} catch {
		refuse(
			content.includes("ENCRYPTED")
				? `${what}: is protected by a passphrase; give one without`
				: `${what}: holds no private key; give a file in PEM format`,
		);
		return undefined;
	}
}
