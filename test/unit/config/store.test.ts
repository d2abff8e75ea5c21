import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { LoginVariables } from "../../../src/config/environment.js";
import { OPTIONS } from "../../../src/config/options.js";
import {
	loopbackTrouble,
	resolveStore,
} from "../../../src/config/resolve-store.js";
import { SettingReader } from "../../../src/config/settings.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const write = (name: string, content: string) =>
	writeFileSync(join(folder.path, name), content);
write("password", "from the file\n");
write("empty", "\n");
write("key-of-nobody", "-----BEGIN PRIVATE KEY-----\n");

const NOBODY: LoginVariables = { username: undefined, password: undefined };

interface Asked {
	readonly nodes?: number;
	readonly endpoint?: string;
	readonly conf?: string;
	readonly backend?: string;
	readonly master?: string;
	readonly port?: string;
	readonly rank?: string;
	readonly standalone?: string;
	readonly login?: LoginVariables;
}

async function resolved({ nodes = 1, login, ...asked }: Asked) {
	const settings = [
		[OPTIONS.rdzvEndpoint.key, asked.endpoint],
		[OPTIONS.rdzvConf.key, asked.conf],
		[OPTIONS.rdzvBackend.key, asked.backend],
		[OPTIONS.masterAddr.key, asked.master],
		[OPTIONS.masterPort.key, asked.port],
		[OPTIONS.nodeRank.key, asked.rank],
		[OPTIONS.standalone.key, asked.standalone],
	].flatMap(([key = "", text]) =>
		text === undefined
			? []
			: [[key, { text, place: key, origin: "" }] as const],
	);
	const said: string[] = [];
	const reader = new SettingReader(
		new Map(settings),
		(words) => said.push(words),
		({ name }) => name,
	);
	const store = await resolveStore(
		reader,
		{ cwd: folder.path, login: login ?? NOBODY, maxNodes: nodes },
		(words) => said.push(`warning: ${words}`),
	);
	return { store, said };
}

describe("where the shared state lives", () => {
	test.each<[Asked, string, readonly string[]]>([
		[{}, "memory", []],
		[{ nodes: 2, endpoint: "h:1" }, "etcd", ["h:1"]],
		[{ backend: "etcd" }, "etcd", ["127.0.0.1:2379"]],
		[{ nodes: 2 }, "etcd", ["127.0.0.1:2379"]],
		[{ backend: "memory" }, "memory", []],
	])("%j: %s", async (asked, backend, endpoints) => {
		const { store } = await resolved(asked);
		expect(store).toEqual({ backend, endpoints, credentials: {} });
	});
});

describe("an etcd that the agents host", () => {
	const c10d = { nodes: 2, backend: "c10d" };

	test.each<[Asked, readonly string[], boolean | undefined]>([
		[{ ...c10d, endpoint: "node0:29500" }, ["node0:29500"], undefined],
		[{ ...c10d, endpoint: "node0" }, ["node0:29400"], undefined],
		[
			{ ...c10d, endpoint: "a,b,c" },
			["a:29400", "b:29400", "c:29400"],
			undefined,
		],
		[{ ...c10d, endpoint: "a", conf: "is_host=true" }, ["a:29400"], true],
		// A name tells, and not the rank: as in torchrun.
		[{ ...c10d, endpoint: "a", rank: "0" }, ["a:29400"], undefined],
		[
			{ nodes: 2, backend: "static", endpoint: "a", rank: "0" },
			["a:29401"],
			true,
		],
		// The master's own port is left to the job.
		[{ nodes: 2, master: "node0", rank: "0" }, ["node0:29501"], true],
		[{ nodes: 2, master: "a", port: "65534", rank: "0" }, ["a:65532"], true],
		[{ nodes: 2, master: "a", port: "65535", rank: "0" }, ["a:65533"], true],
		[
			{ nodes: 2, master: "fd00::1", port: "1", rank: "1" },
			["[fd00::1]:2"],
			false,
		],
		[
			{
				nodes: 2,
				backend: "static",
				master: "a",
				conf: "is_host=1",
				rank: "1",
			},
			["a:29501"],
			true,
		],
	])("%j: at %j, host: %s", async (asked, endpoints, isHost) => {
		const { store, said } = await resolved(asked);
		const credentials = {};
		const meeting = { isHost };
		expect(store).toEqual({ backend: "etcd", endpoints, credentials, meeting });
		expect(said).toEqual([]);
	});

	test.each<Asked>([
		// torchrun's own line for one node: any free port.
		{ backend: "c10d", endpoint: "localhost:0" },
		{ master: "node0", port: "29500", rank: "0" },
	])("one node needs none: %j", async (asked) => {
		const { store, said } = await resolved(asked);
		expect([store.backend, said]).toEqual(["memory", []]);
	});

	test.each<[Asked, string]>([
		[{ ...c10d, endpoint: "https://a:1" }, "does not speak TLS"],
		[{ ...c10d, endpoint: "a,b" }, "2 endpoints survive no more than 1"],
		[{ ...c10d, endpoint: "a:1,b:1,a:2" }, "a host is named twice"],
		[{ ...c10d, endpoint: "a:65535" }, "etcd needs the next port"],
		[{ ...c10d, endpoint: "a", conf: "username=u" }, "username: the etcd that"],
		[
			{ nodes: 2, endpoint: "a:1", conf: "is_host=1" },
			"is_host: etcd is started",
		],
		[
			{ nodes: 2, endpoint: "a:1", master: "b" },
			"warning: masterAddr: without effect",
		],
		[
			{ ...c10d },
			"warning: only agents of this machine can meet at localhost:29400",
		],
		[{ ...c10d, endpoint: "localhost:0" }, '"localhost:0": port 0 is out of'],
		[{ ...c10d, nodes: 1, endpoint: "a:0" }, '"a:0": port 0 is out of range'],
		[{ endpoint: "localhost:0" }, "port 0 is out of range; use 1-65535"],
	])("%j: %s", async (asked, words) => {
		const { said } = await resolved({ ...asked });
		expect(said).toEqual([expect.stringContaining(words)]);
	});
});

describe("a loopback address of etcd", () => {
	const WARNING =
		"warning: only agents of this machine can reach etcd at 127.0.0.1:2379; for several machines set ELASTIC_RUN_RDZV_ENDPOINT=host:2379 on every one";

	test.each<[Asked, readonly string[]]>([
		[{ nodes: 2 }, [WARNING]],
		[{ nodes: 1, backend: "etcd" }, []],
		[{ nodes: 2, endpoint: "10.0.0.1:1" }, []],
		[{ nodes: 2, endpoint: "localhost:1,10.0.0.1:1" }, []],
	])("%j", async (asked, warnings) => {
		expect((await resolved(asked)).said).toEqual(warnings);
	});

	test("is said again where nodes do not meet, and only there", () => {
		const endpoints = ["[::1]:2379"];
		expect(loopbackTrouble({ endpoints, maxNodes: 2 })).toContain("[::1]:2379");
		expect(loopbackTrouble({ endpoints: [], maxNodes: 2 })).toBeUndefined();
	});
});

describe("a login", () => {
	const endpoint = "127.0.0.1:1";
	const both = { username: "var", password: "from the variable" };

	test.each<[string, Asked, { username: string; password: string }]>([
		[
			"from the file",
			{ conf: "username=u,password_file=password" },
			{ username: "u", password: "from the file" },
		],
		["from variables", { login: both }, both],
		[
			"of the file before the variable's",
			{ conf: "password_file=password", login: both },
			{ username: "var", password: "from the file" },
		],
		[
			"of the flag's name before the variable's",
			{ conf: "username=u", login: both },
			{ username: "u", password: "from the variable" },
		],
	])("%s", async (_, asked, login) => {
		const { store, said } = await resolved({ endpoint, ...asked });
		expect(store.credentials.login).toEqual(login);
		expect(said).toEqual([]);
	});

	test.each<[string, string, LoginVariables, RegExp]>([
		[
			"no password",
			"username=u",
			NOBODY,
			/username u: its password is missing/,
		],
		["no name", "password_file=password", NOBODY, /password_file: whose/],
		["an empty file", "username=u,password_file=empty", NOBODY, /is empty$/],
		["no file", "username=u,password_file=none", NOBODY, /no such file/],
		["no file, and a variable", "password_file=none", both, /no such file/],
	])("%s", async (_, conf, login, words) => {
		const { store, said } = await resolved({ endpoint, conf, login });
		expect(said).toEqual([expect.stringMatching(words)]);
		expect(store.credentials.login).toBeUndefined();
		expect(said.join()).not.toContain("from the");
	});

	test("in clear text over the network is a warning", async () => {
		const crossing = await resolved({ endpoint: "h:1", login: both });
		expect(crossing.said).toEqual([
			"warning: the password for etcd goes to h:1 in clear text; use https://",
		]);
		const encrypted = await resolved({ endpoint: "https://h:1", login: both });
		expect(encrypted.said).toEqual([]);
		expect(encrypted.store.credentials).toEqual({ login: both, tls: {} });
	});
});

describe("TLS", () => {
	const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
	if (hasOpenssl) for (const name of ["one", "other"]) certify(name);

	beforeEach((context) => {
		if (!hasOpenssl) context.skip("openssl is not installed");
	});

	test("takes the files that are given", async () => {
		const conf = "cacert=one.pem,cert=one.pem,key=one.key";
		const { store, said } = await resolved({ endpoint: "https://h:1", conf });
		expect(said).toEqual([]);
		expect(Object.keys(store.credentials.tls ?? {})).toEqual([
			"ca",
			"cert",
			"key",
		]);
		expect(String(store.credentials.tls?.key)).toContain("PRIVATE KEY");
		expect(store.credentials.files).toEqual({
			ca: expect.stringMatching(/^\/.*one\.pem$/),
			cert: expect.stringMatching(/^\/.*one\.pem$/),
			key: expect.stringMatching(/^\/.*one\.key$/),
		});
	});

	test.each<[string, string, RegExp]>([
		[
			"https://h:1",
			"cert=one.pem,key=other.key",
			/key other.key: does not belong to cert one.pem$/,
		],
		[
			"https://h:1",
			"cert=one.pem,key=locked.key",
			/locked.key: is protected by a passphrase/,
		],
		["https://h:1", "cert=one.pem,key=key-of-nobody", /holds no private key/],
		["https://h:1", "cert=one.pem", /^rdzvConf: cert without key/],
		["https://h:1", "cacert=password", /cacert password: holds no certificate/],
		[
			"h:1",
			"cacert=one.pem",
			/cacert: without effect on h:1, where TLS is not used; use --rdzv-endpoint https:\/\/h:1$/,
		],
	])("of %s with %s is refused", async (endpoint, conf, words) => {
		const { said } = await resolved({ endpoint, conf });
		expect(said).toEqual([expect.stringMatching(words)]);
	});

	test("of some endpoints only is refused", async () => {
		const { said } = await resolved({ endpoint: "https://a:1,b:1" });
		expect(said).toEqual([expect.stringContaining("some with https")]);
	});
});

function certify(name: string): void {
	const run = (...args: readonly string[]) =>
		execFileSync("openssl", args, { cwd: folder.path, stdio: "ignore" });
	const key = `${name}.key`;
	run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key);
	run("req", "-x509", "-key", key, "-subj", "/CN=x", "-out", `${name}.pem`);
	run("ec", "-in", key, "-aes128", "-passout", "pass:x", "-out", "locked.key");
}
