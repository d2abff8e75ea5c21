import {
	copyFileSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RenewedCredentials } from "../../../../src/store/etcd/credentials.js";
import {
	hasOpenssl,
	makeCertificates,
	renewClient,
} from "../../../helpers/etcd-tls.js";

function folder(): string {
	const path = mkdtempSync(join(tmpdir(), "credentials-"));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

describe("K7 credentials are read again when they are needed", () => {
	test("a password: its last one where the file has none for a moment", () => {
		const file = join(folder(), "password");
		const login = { username: "a", password: "first" };
		const files = { password: file };
		const credentials = new RenewedCredentials({ login, files });
		const now = (text?: string) => {
			if (text !== undefined) writeFileSync(file, text);
			return credentials.login?.password;
		};
		expect(now()).toBe("first");
		expect(now("second\r\n")).toBe("second");
		expect(now("\n")).toBe("second");
		rmSync(file);
		expect(now()).toBe("second");
	});

	test.runIf(hasOpenssl())(
		"an authority; a certificate only with the key that belongs to it",
		() => {
			const certificates = makeCertificates(folder());
			const { cacert: ca, cert, key } = certificates;
			const read = () => ({
				ca: readFileSync(ca),
				cert: readFileSync(cert),
				key: readFileSync(key),
			});
			const first = read();
			const files = { ca, cert, key };
			const credentials = new RenewedCredentials({ tls: first, files });
			renewClient(certificates);
			copyFileSync(makeCertificates(folder()).cacert, ca);
			const second = read();
			expect(credentials.tls).toEqual(second);
			writeFileSync(cert, first.cert);
			writeFileSync(ca, "nonsense");
			expect(credentials.tls).toEqual(second);
			writeFileSync(key, first.key);
			expect(credentials.tls).toEqual({ ...first, ca: second.ca });
		},
	);

	test("without files they stay as they are", () => {
		const tls = { ca: Buffer.from("x") };
		expect(new RenewedCredentials({ tls }).tls).toBe(tls);
		expect(new RenewedCredentials({}).login).toBeUndefined();
	});
});
