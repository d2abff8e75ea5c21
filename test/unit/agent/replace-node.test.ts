import { join } from "node:path";
import { expect, it } from "vitest";
import { runListener } from "../../../src/agent/joining/run-listener.js";
import {
	REPLACED,
	type ReplacedRecord,
} from "../../../src/rendezvous/records/departure-records.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import {
	encodeRecord,
	recordAt,
} from "../../../src/rendezvous/records/record-codec.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import {
	endProcess,
	isAlive,
	temporaryFolder,
	textIn,
	waitFor,
} from "../../helpers/processes.js";
import { onTestFinished } from "../../helpers/this-test.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const REPLACED_B: ReplacedRecord = {
	...{ version: 1, nodeId: "b", incarnation: "b-1", hostId: "host" },
	...{ address: "b.example", role: "default", reason: "rule 1", at: 5 },
};
const TEN_MINUTES = 600_000;

it("D8 a replacement command that hangs holds up nobody, and is ended with all its processes after its time-out", async () => {
	const { path: cwd, remove } = temporaryFolder();
	onTestFinished(remove);
	const clock = new VirtualClock();
	const store = new MemoryStore();
	const key = new RunKeys("r").replacedNode("b");
	await store.transaction([], [{ put: key, value: encodeRecord(REPLACED_B) }]);
	const said: string[] = [];
	const say = (words: string) => void said.push(words);
	const { onReplace } = runListener(
		{
			...{ runId: "r", nodeId: "a", role: "default", localAddr: undefined },
			...{ environment: { PATH: process.env.PATH }, command: { cwd } },
			replaceNode: {
				command: "echo asks the cloud; sleep 1000 & echo $$ $! > pids; wait",
				timeoutMs: TEN_MINUTES,
			},
		},
		{
			...{ clock, temporaryDirectory: cwd },
			log: { debug: say, info: say, warn: say, error: say },
		},
		{
			ports: { reserve: async () => 1 },
			opening: Promise.resolve(store),
		},
	);
	// The coordinator plans the next round while the command runs.
	expect(onReplace?.(REPLACED_B)).toBeUndefined();
	const pids = (await textIn(join(cwd, "pids"))).trim().split(" ").map(Number);
	onTestFinished(() => pids.forEach(endProcess));
	const areAlive = () => pids.map(isAlive);
	await clock.advance(TEN_MINUTES - 1);
	expect(areAlive()).toEqual([true, true]);
	await clock.advance(1);
	await waitFor("its end", () => !areAlive().includes(true));
	const end = "not done after 600 s, and killed after 10 min 0 s";
	const words = `the command that replaces b: ${end}`;
	await waitFor("the end to be told", () => said.includes(words));
	expect(said).toContain("replace-node: asks the cloud");
	await clock.advance(1_000);
	const snapshot = await store.snapshot([key]);
	expect(recordAt(REPLACED, snapshot, key)).toMatchObject({ commandEnd: end });
});
