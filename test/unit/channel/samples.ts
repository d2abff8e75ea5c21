import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
	type ChannelRoot,
	openChannelRoot,
} from "../../../src/channel/channel-root.js";
import { uid } from "./events.js";

export { pause, uid, work, workerInfo } from "./events.js";

/** A directory that is removed after the test. */
export function temporaryDirectory(parent = tmpdir()): string {
	const directory = mkdtempSync(join(parent, "channel-test-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}

export function temporaryRoot(base = temporaryDirectory()): ChannelRoot {
	return openChannelRoot({ base, uid, runId: "run", agentId: "agent" });
}

/** Puts another file in the place of a channel's newest event, whose numbered one stays. */
export function replaceLatest(
	directory: string,
	text: string | Uint8Array,
): void {
	const foreign = join(directory, "tmp", "foreign");
	writeFileSync(foreign, text);
	renameSync(foreign, join(directory, "latest.json"));
}
