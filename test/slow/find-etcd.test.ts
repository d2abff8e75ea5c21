import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
	findEtcd,
	HOW_TO_GET_ETCD,
	installEtcd,
} from "../../scripts/find-etcd.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

function program(name: string, text: string): string {
	const path = join(folder.path, name);
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, `#!/bin/sh\n${text}\n`);
	chmodSync(path, 0o755);
	return path;
}

const etcdOf = (version: string) =>
	`[ "$1" = --version ] && echo 'etcd Version: ${version}'`;
const old = program("old/etcd", etcdOf("3.3.25"));
const other = program("other/etcd", "echo something else");
const good = program("good/etcd", etcdOf("3.4.23"));

test("ETCD_BIN goes before PATH, PATH before the usual places; what is too old, or is not etcd, is passed over", () => {
	const onPath = program("path/etcd", etcdOf("3.4.0"));
	const PATH = ["relative", old, other, onPath].map(dirname).join(":");
	expect(findEtcd({ ETCD_BIN: good, PATH }, [])).toBe(good);
	expect(findEtcd({ ETCD_BIN: "", PATH }, [good])).toBe(onPath);
	expect(findEtcd({}, [good])).toBe(good);
	expect(findEtcd({}, [])).toBeUndefined();
});

test.each([
	["is not there", "/no/etcd", "is not an executable file"],
	["is not etcd", other, "does not say an etcd's version"],
	["is too old", old, "is etcd 3.3.25, older than 3.4"],
])("an ETCD_BIN that %s is named, with the fix", (_, path, problem) => {
	expect(() => findEtcd({ ETCD_BIN: path })).toThrow(
		`ETCD_BIN=${path} ${problem}. Set it to the path of an etcd of version 3.4 or later, or unset it`,
	);
});

test.each([
	["echo 'E: Failed to fetch it' >&2; exit 100", "E: Failed to fetch it"],
	["exit 0", "apt-get downloaded nothing"],
])("where none can be fetched, it says so and what to do: %s", (text, reason) => {
	const bin = dirname(program("bin/apt-get", text));
	const env = { PATH: `${bin}:${process.env.PATH}` };
	expect(() => installEtcd(join(folder.path, "cache/etcd"), env)).toThrow(
		`no etcd here, and none could be fetched (${reason}): ${HOW_TO_GET_ETCD}`,
	);
});
