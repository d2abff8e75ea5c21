import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isHopeless, pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import type { EtcdStoreOptions } from "../../src/store/etcd/etcd-store.js";
import { etcdForAll, etcdGet, etcdPut, startEtcd } from "../helpers/etcd.js";
import {
	FEW_CONNECTIONS,
	Follower,
	holdKey,
	openStore,
} from "../helpers/etcd-store.js";
import { job, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

const PREFIX = "/elastic-run/a/";
const USER = { user: "a-run", password: "secret", prefix: PREFIX };
const LOGIN = { username: "a-run", password: "secret" };

const etcd = etcdForAll({ auth: USER });

/** What the first call of a store fails with. */
async function refusalOf(
	options: Partial<EtcdStoreOptions>,
	selector = PREFIX,
): Promise<unknown> {
	const store = await openStore(etcd().endpoint, options);
	return store.snapshot([selector]).then(
		() => undefined,
		(error: unknown) => error,
	);
}

describe("etcd with authentication", () => {
	test("lets in who has its user's name and password, below its prefix (J20)", async () => {
		const store = await openStore(etcd().endpoint, { login: LOGIN });
		const { lease } = await holdKey(store, `${PREFIX}k`, 5_000);
		const follower = new Follower(store, PREFIX);
		await waitFor("a look", () => follower.valueOf(`${PREFIX}k`) === "held");
		await lease.revoke();
		expect(await etcdGet(etcd(), `${PREFIX}k`)).toBeUndefined();
		// All of it went over one connection, the login too.
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
	});

	test.each([
		[
			"a wrong password",
			{ login: { ...LOGIN, password: "wrong" } },
			PREFIX,
			"wrong user name or password",
		],
		[
			"an unknown user",
			{ login: { ...LOGIN, username: "nobody" } },
			PREFIX,
			"wrong user name or password",
		],
		["no login", {}, PREFIX, "asks for a user name and a password"],
		[
			"keys that are not this user's",
			{ login: LOGIN },
			"/elastic-run/b/",
			"may not read and write",
		],
	])("refuses %s in words, for good", async (_, options, selector, words) => {
		const error = await refusalOf(options, selector);
		expect(error).toMatchObject({
			code: "STORE_UNREACHABLE",
			message: expect.stringContaining(words),
		});
		expect(String(error)).toContain(etcd().endpoint);
		expect(String(error)).not.toContain("secret");
		expect(isHopeless(error)).toBe(true);
	});

	test("refuses a watch of foreign keys without harm to others of the same store", async () => {
		const store = await openStore(etcd().endpoint, { login: LOGIN });
		let foreignHints = 0;
		const foreign = ["/elastic-run/b/", "/elastic-run/c"].map((selector) =>
			store.watch([selector], 0, () => {
				foreignHints += 1;
			}),
		);
		const follower = new Follower(store, PREFIX);
		await etcdPut(etcd(), `${PREFIX}w`, "1");
		await waitFor("a look", () => follower.valueOf(`${PREFIX}w`) === "1");
		const later = new Follower(store, `${PREFIX}later/`);
		await etcdPut(etcd(), `${PREFIX}later/w`, "1");
		await waitFor("a later one's look", () =>
			later.valueOf(`${PREFIX}later/w`),
		);
		// They are asked for again and again, but ever more rarely.
		await pause(systemClock, 1_000);
		expect(store.metrics.requests).toBeLessThan(100);
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
		expect(foreignHints).toBe(0);
		for (const watch of foreign) watch.close();
	});
});

test("K7 a password that is changed during a run, there and in its file, is used at the next login", async () => {
	const server = await startEtcd({ auth: USER });
	const site = openSite();
	const file = join(site.path, "password");
	writeFileSync(file, "secret\n");
	const launch = site.launch([
		...["--nnodes", "1", "--rdzv-backend", "etcd", "--rdzv-id", "a"],
		...["--rdzv-endpoint", server.endpoint, "--max-restarts", "1"],
		...["--rdzv-conf", `username=${USER.user},password_file=${file}`],
		job("works.sh"),
	]);
	const [worker = expect.unreachable()] = await site.sawWorkers(1, 1);
	const changed = { name: USER.user, password: "another" };
	await server.call("/v3/auth/user/changepw", changed);
	writeFileSync(file, "another\n");
	// It forgets all tokens.
	await server.restart();
	process.kill(worker.pid, "SIGKILL");
	await site.sawWorkers(1, 2);
	launch.signal("SIGTERM");
	await launch.ended;
	expect(launch.output.stderr).not.toContain("wrong user name or password");
});

describe("a token", () => {
	test("that has expired is replaced, for calls and for watches", async () => {
		const server = await startEtcd({
			auth: USER,
			flags: ["--auth-token-ttl", "1"],
		});
		const store = await openStore(server.endpoint, { login: LOGIN });
		const { losses } = await holdKey(store, `${PREFIX}k`, 5_000);
		await pause(systemClock, 2_500);
		const follower = new Follower(store, PREFIX);
		await waitFor("a look", () => follower.valueOf(`${PREFIX}k`) === "held");
		await pause(systemClock, 2_500);
		await store.transaction([], [{ put: `${PREFIX}r`, value: "1" }]);
		await waitFor("a look", () => follower.valueOf(`${PREFIX}r`) === "1");
		expect(losses).toEqual([]);
	});

	test("that etcd lost when it was restarted is replaced, for calls and for watches", async () => {
		const server = await startEtcd({ auth: USER });
		const store = await openStore(server.endpoint, { login: LOGIN });
		const followers = [
			new Follower(store, PREFIX),
			new Follower(store, PREFIX),
		];
		const { losses, lease } = await holdKey(store, `${PREFIX}k`, 10_000);
		for (let round = 0; round < 3; round++) {
			await server.restart();
			await etcdPut(server, `${PREFIX}round`, String(round));
			for (const follower of followers) {
				await waitFor(
					"a look",
					() => follower.valueOf(`${PREFIX}round`) === String(round),
				);
			}
		}
		const until = performance.now() + 10_000;
		await waitFor("a keepalive", () => lease.expiresAt > until);
		expect(losses).toEqual([]);
	});
});
