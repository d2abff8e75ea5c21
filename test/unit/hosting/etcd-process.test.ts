import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
	DataDirectory,
	markLeft,
	meetingDirectory,
	takeMeetingDirectory,
} from "../../../src/hosting/data-directory.js";
import { EtcdProcess } from "../../../src/hosting/etcd-process.js";
import { temporaryFolder } from "../../helpers/processes.js";

function folder(): string {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	return path;
}

/** What etcd 3.4 writes where its disk is full. */
const PANIC = `C | etcdserver: create wal error: no space left on device
panic: create wal error: no space left on device

goroutine 1 [running]:
${"go.etcd.io/etcd/embed.StartEtcd(0xc00018a600)\n\tetcd.go:217\n".repeat(20)}
goroutine 7 [select]:
main.main()`;

/** An etcd that writes this, and ends. */
async function ended(words: string): Promise<EtcdProcess> {
	const directory = folder();
	const program = join(directory, "etcd");
	const script = `#!/bin/sh\ncat >&2 <<'END'\n${words}\nEND\nexit 2\n`;
	writeFileSync(program, script, { mode: 0o755 });
	const etcd = new EtcdProcess(
		{
			...{ program, setpriv: undefined, directory, runId: "train" },
			...{ member: 0, listen: ["127.0.0.1"], idleMs: 60_000, rideOutMs: 0 },
			places: [{ host: "127.0.0.1", port: 2379 }],
		},
		"new",
	);
	await etcd.ended;
	return etcd;
}

it("the last words of an etcd that panics are its reason, not its stack", async () => {
	const etcd = await ended(PANIC);
	expect(etcd.lastWords).toBe(
		`etcd ended with exit code 2\n${PANIC.split("\n").slice(0, 2).join("\n")}`,
	);
	expect(etcd.isShutOut).toBe(false);
});

// As etcd 3.4 writes them; much may follow.
it.each([
	'"msg":"server error","error":"the member has been permanently removed from the cluster"}',
	"raft.node: tocommit(28) is out of range [lastIndex(3)]. Was the raft log corrupted, truncated, or lost?",
	'"level":"fatal","msg":"discovery failed","error":"member 1ce857cdd7454871 has already been bootstrapped"',
	'"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch"',
	`"level":"panic","msg":"failed to recover v3 backend from snapshot","error":"failed to find database snapshot file (snap: snapshot file doesn't exist)"`,
	'"level":"panic","msg":"failed to open database","error":"invalid database"',
	'"level":"panic","msg":"failed to open database","error":"file size too small"',
])("an etcd whose data is of no use says so: %s", async (words) => {
	const more = "stopped TCP streaming connection with remote peer\n".repeat(20);
	expect(await ended(`${words}\n${more}`)).toMatchObject({ isShutOut: true });
});

it("to leave a meeting whose keeper has tidied up already is no failure", () => {
	const directory = join(folder(), "gone");
	markLeft(directory, true);
	expect(existsSync(directory)).toBe(false);
});

it("a directory that is gone while it is used ends no keeper", () => {
	const directory = join(folder(), "gone");
	new DataDirectory(directory).touch(0);
	expect(existsSync(directory)).toBe(false);
});

it("a base in which no directory can be made is no error of ours", () => {
	const file = join(folder(), "file");
	writeFileSync(file, "");
	const place = { runId: "r", host: "127.0.0.1", port: 2379 };
	const directory = meetingDirectory(join(file, "x"), place);
	expect(() => takeMeetingDirectory(directory)).toThrow(
		"cannot be used: ENOTDIR",
	);
});
