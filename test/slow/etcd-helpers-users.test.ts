import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { expect, test } from "vitest";
import {
	type Certificates,
	type EtcdServer,
	etcdPut,
	startEtcd,
} from "../helpers/etcd.js";

test("TLS, server: clients show no certificate", async () => {
	const server = await startEtcd({ tls: "server" });
	expect(server.endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
	expect(await statusFor(server, ["cacert"])).toBe(200);
	await expect(statusFor(server, [])).rejects.toThrow("certificate");
});

test("TLS, mutual: clients must show a certificate; users as well", async () => {
	const auth = { user: "a-run", password: "secret" };
	const server = await startEtcd({ tls: "mutual", auth });
	expect(await statusFor(server, ["cacert", "cert", "key"])).toBe(200);
	await expect(statusFor(server, ["cacert"])).rejects.toThrow();
	await etcdPut(server, "a", "1");
});

test("a user writes below its prefix only, also after a restart and a wipe", async () => {
	const auth = { user: "a-run", password: "secret", prefix: "run/" };
	const server = await startEtcd({ auth });

	for (const again of [
		async () => {},
		() => server.restart(),
		() => server.wipe(),
	]) {
		await again();
		expect(await putAs(server, "a-run", "secret", "run/a")).toBe(200);
		expect(await putAs(server, "a-run", "secret", "other")).toBe(403);
		expect(await putAs(server, "a-run", "wrong", "run/a")).toBe(400);
		await etcdPut(server, "other", "1");
	}
});

/** Of a request with some of the client's files. */
async function statusFor(
	{ endpoint, certificates }: EtcdServer,
	files: readonly ("cacert" | "cert" | "key")[],
): Promise<number | undefined> {
	const read = (name: keyof Certificates & (typeof files)[number]) =>
		certificates !== undefined && files.includes(name)
			? readFileSync(certificates[name])
			: undefined;
	const [ca, cert, key] = [read("cacert"), read("cert"), read("key")];
	const sent = request(`${endpoint}/health`, { agent: false, ca, cert, key });
	sent.end();
	const [response] = await once(sent, "response");
	response.resume();
	return response.statusCode;
}

/** Signs in and puts a key; returns the status of what failed, or of the last. */
async function putAs(
	{ endpoint }: EtcdServer,
	name: string,
	password: string,
	key: string,
): Promise<number> {
	const post = (path: string, body: object, headers = {}) =>
		fetch(`http://${endpoint}${path}`, {
			method: "POST",
			headers,
			body: JSON.stringify(body),
		});
	const signedIn = await post("/v3/auth/authenticate", { name, password });
	if (!signedIn.ok) return signedIn.status;
	const { token }: { token: string } = JSON.parse(await signedIn.text());
	const body = { key: Buffer.from(key).toString("base64"), value: "" };
	const put = await post("/v3/kv/put", body, { Authorization: token });
	return put.status;
}
