import { describe, expect, it } from "vitest";
import { Login } from "../../../../src/store/etcd/calls.js";
import { StatusError } from "../../../../src/store/etcd/errors.js";
import type { EtcdClient } from "../../../../src/store/etcd/etcd-client.js";

const CREDENTIALS = { username: "u", password: "p" };

/** An etcd that gives out these, one after the other. */
function clientOf(...answers: readonly (string | Error)[]) {
	let asked = 0;
	const authenticate = async () => {
		const answer = answers[asked++];
		if (answer instanceof Error) throw answer;
		return { token: answer };
	};
	const client = { authenticate } as unknown as EtcdClient;
	return { client, asked: () => asked };
}

const refusal = (code: number, details: string) =>
	new StatusError({ code, details });

describe("a login", () => {
	it("asks once for all that want a token", async () => {
		const { client, asked } = clientOf("one", "two");
		const login = new Login({ login: CREDENTIALS });
		expect(login.known).toBeUndefined();
		const tokens = [login.token(client), login.token(client)];
		expect(await Promise.all(tokens)).toEqual(["one", "one"]);
		expect(await login.token(client)).toBe("one");
		expect(asked()).toBe(1);
	});

	it("asks again once for a token that all have found to be old", async () => {
		const { client, asked } = clientOf("one", "two", "three");
		const login = new Login({ login: CREDENTIALS });
		await login.token(client);
		login.forget("one");
		expect(await login.token(client)).toBe("two");
		login.forget("one");
		expect(await login.token(client)).toBe("two");
		expect(asked()).toBe(2);
	});

	it("needs no token where etcd has no authentication, and asks again where it has later", async () => {
		const off = refusal(9, "etcdserver: authentication is not enabled");
		const { client } = clientOf(off, "one");
		const login = new Login({ login: CREDENTIALS });
		expect(await login.token(client)).toBeUndefined();
		login.forget(undefined);
		expect(await login.token(client)).toBe("one");
	});
});
