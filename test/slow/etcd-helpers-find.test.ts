import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
	findEtcd,
	HOW_TO_GET_ETCD,
	installEtcd,
} from "../../scripts/find-etcd.js";
import { temporaryFolder } from "../helpers/processes.js";

const SCRIPT = fileURLToPath(
	new URL("../../scripts/find-etcd.js", import.meta.url),
);

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => folder.remove());

function program(name: string, text: string): string {
	const path = join(folder.path, name);
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, `#!/bin/sh\n${text}\n`);
	chmodSync(path, 0o755);
	return path;
}

const etcdOf = (version: string) =>
	`[ "$1" = --version ] && echo 'etcd Version: ${version}'`;

describe("finding etcd", () => {
	test("ETCD_BIN goes before PATH, PATH before the usual places", () => {
		const named = program("named/my-etcd", etcdOf("3.5.16"));
		const onPath = program("path/etcd", etcdOf("3.4.0"));
		const usual = program("usual/etcd", etcdOf("4.0.0"));
		const PATH = `relative:${join(folder.path, "nowhere")}:${dirname(onPath)}`;

		expect(findEtcd({ ETCD_BIN: named, PATH }, [usual])).toBe(named);
		expect(findEtcd({ ETCD_BIN: "", PATH }, [usual])).toBe(onPath);
		expect(findEtcd({}, [usual])).toBe(usual);
		expect(findEtcd({}, [])).toBeUndefined();
	});

	test("what is too old, or is not etcd, is passed over", () => {
		const old = program("old/etcd", etcdOf("3.3.25"));
		const other = program("other/etcd", "echo something else");
		const failing = program("failing/etcd", "exit 1");
		const good = program("good/etcd", etcdOf("3.4.23"));
		const PATH = [old, other, failing, good].map(dirname).join(":");

		expect(findEtcd({ PATH }, [])).toBe(good);
	});

	test.each([
		["is not there", undefined, "is not an executable file"],
		["is not etcd", "echo something else", "does not say an etcd's version"],
		["is too old", etcdOf("3.3.25"), "is etcd 3.3.25, older than 3.4"],
	])("an ETCD_BIN that %s is named, with the fix", (_, text, problem) => {
		const path = join(folder.path, "etcd");
		if (text !== undefined) program("etcd", text);

		expect(() => findEtcd({ ETCD_BIN: path })).toThrow(
			`ETCD_BIN=${path} ${problem}. Set it to the path of an etcd of version 3.4 or later, or unset it`,
		);
	});

	test("as a program, it prints the path, or fails with the reason", async () => {
		const run = (ETCD_BIN: string) =>
			promisify(execFile)(process.execPath, [SCRIPT], {
				env: { ...process.env, ETCD_BIN },
			});
		const path = program("etcd", etcdOf("3.4.23"));

		expect((await run(path)).stdout).toBe(`${path}\n`);
		await expect(run("/nowhere")).rejects.toMatchObject({
			code: 1,
			stderr: expect.stringMatching(/^ETCD_BIN=\/nowhere is not .*\n$/),
		});
	});
});

describe("fetching etcd", () => {
	const destination = () => join(folder.path, "cache/etcd");

	/** An apt-get of ours before everything that is on PATH. */
	const withAptGet = (text: string) => ({
		PATH: `${dirname(program("bin/apt-get", text))}:${process.env.PATH}`,
	});

	/** An apt-get that brings a package with this etcd. */
	const bringing = (etcd: string) => {
		program("package/usr/bin/etcd", etcd);
		const control = join(folder.path, "package/DEBIAN/control");
		mkdirSync(dirname(control));
		writeFileSync(
			control,
			"Package: etcd-server\nVersion: 1\nArchitecture: all\nMaintainer: tests <tests@localhost>\nDescription: for tests\n",
		);
		const source = join(folder.path, "package");
		const archive = join(folder.path, "etcd-server_1_all.deb");
		execFileSync("dpkg-deb", ["--build", source, archive], { stdio: "ignore" });
		return `case "$*" in *"download etcd-server") cp '${archive}' . ;; esac`;
	};

	test("the package is unpacked, and only its program is kept", (context) => {
		if (!hasDpkg()) context.skip("no dpkg-deb here, which unpacks packages");
		const env = withAptGet(bringing(etcdOf("3.4.30")));

		expect(installEtcd(destination(), env)).toBe(destination());
		expect(findEtcd({}, [destination()])).toBe(destination());
	});

	test("a broken package source among others does not matter", (context) => {
		if (!hasDpkg()) context.skip("no dpkg-deb here, which unpacks packages");
		const script = `case "$*" in *update) exit 100 ;; esac\n${bringing(etcdOf("3.4.30"))}`;

		expect(installEtcd(destination(), withAptGet(script))).toBe(destination());
	});

	test("a package with an etcd that is too old is refused", (context) => {
		if (!hasDpkg()) context.skip("no dpkg-deb here, which unpacks packages");
		const env = withAptGet(bringing(etcdOf("3.3.25")));

		expect(() => installEtcd(destination(), env)).toThrow(
			"the etcd of etcd-server is etcd 3.3.25, older than 3.4",
		);
		expect(existsSync(destination())).toBe(false);
	});

	test.each([
		[
			"nothing can be fetched",
			"echo 'W: something' >&2; echo 'E: Failed to fetch it' >&2; exit 100",
			"E: Failed to fetch it",
		],
		["nothing came", "exit 0", "apt-get downloaded nothing"],
	])("where %s, it says so and what to do", (_, text, reason) => {
		expect(() => installEtcd(destination(), withAptGet(text))).toThrow(
			`no etcd here, and none could be fetched (${reason}): ${HOW_TO_GET_ETCD}`,
		);
	});

	test("where there is no apt-get, it says so and what to do", () => {
		const env = { PATH: join(folder.path, "nowhere") };
		expect(() => installEtcd(destination(), env)).toThrow(
			`(there is no apt-get): ${HOW_TO_GET_ETCD}`,
		);
	});
});

function hasDpkg(): boolean {
	try {
		execFileSync("dpkg-deb", ["--version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}
