import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { chooseNodeId } from "../../../src/agent/joining/choose-node-id.js";
import {
	encodeIdentity,
	ownIdentity,
} from "../../../src/channel/process-identity.js";
import type { AgentConfig } from "../../../src/config/agent-config.js";
import { writeNodeFile } from "../../../src/node-files/node-file.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => folder.remove());

const silent = () => {};
const log = { debug: silent, info: silent, warn: silent, error: silent };

/** An agent of this machine whose record is gone, as after a lapse of its lease. */
function otherAgent(nodeId: string, runId = "run", owner = ownIdentity()) {
	const parent = join(folder.path, `elastic-run-${process.getuid?.() ?? 0}`);
	const directory = join(parent, `${runId}-${nodeId}`);
	mkdirSync(directory, { recursive: true });
	writeFileSync(join(directory, "agent.json"), encodeIdentity(owner));
	const place = { logDirectory: "", leaveSignal: null, shutdownTimeoutMs: 0 };
	writeNodeFile(directory, { ...place, runId, nodeId, instance: 1 });
}

async function choose(isNodeIdDerived = true): Promise<string> {
	const settings = {
		...{ runId: "run", nodeId: "host", isNodeIdDerived },
		rendezvous: { joinTimeoutMs: 60_000 },
	};
	const { nodeId } = await chooseNodeId(
		{
			config: { ...settings, channelBase: folder.path } as AgentConfig,
			store: new MemoryStore(),
			clock: new VirtualClock(),
			log,
			random: () => 0,
			temporaryDirectory: folder.path,
			isAborted: () => false,
		},
		() => false,
	);
	return nodeId;
}

it("B3 an id of a living process of this machine is passed over, though its lease has run out", async () => {
	otherAgent("host");
	expect(await choose()).toBe("host-2");
	for (let id = 2; id <= 9; id += 1) otherAgent(`host-${id}`);
	expect(await choose()).toBe("host-10");
});

it("an id of another run, or of a process that is gone, is free; one that was given is taken as it is", async () => {
	otherAgent("host", "other");
	otherAgent("host", "run", { ...ownIdentity(), startTime: "1" });
	expect(await choose()).toBe("host");
	otherAgent("host");
	expect(await choose(false)).toBe("host");
});
