import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryRoot } from "./samples.js";

/** A socket's stand-in, in a directory that is called like this. */
function socketIn(prefix: string): string {
	const directory = mkdtempSync(join(tmpdir(), prefix));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	const socket = join(directory, "torch.sock");
	writeFileSync(socket, "");
	return socket;
}

function channelSaying(torch_socket: string | null) {
	const root = temporaryRoot();
	const channel = root.createWorker(0);
	const ready = { version: 1, kind: "python", pid: 1, signal: 41 };
	writeFileSync(
		join(channel.makeHook(), "ready.json"),
		JSON.stringify({ ...ready, torch_socket }),
	);
	return { root, channel };
}

it.each([
	"channel",
	"root",
] as const)("goes with the %s of its worker", (what) => {
	const socket = socketIn("elastic-run-hook-");
	channelSaying(socket)[what].remove();
	expect(existsSync(dirname(socket))).toBe(false);
});

it("of a place that is not the hook's stays", () => {
	const socket = socketIn("mine-");
	channelSaying(socket).channel.remove();
	expect(existsSync(socket)).toBe(true);
});

it("may be absent", () => {
	const { channel } = channelSaying(null);
	channel.remove();
	expect(existsSync(channel.directory)).toBe(false);
});
