import { expect, it } from "vitest";
import { passPreflight } from "../../../src/agent/joining/preflight.js";
import { systemClock } from "../../../src/base/clock.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import { MemoryStore } from "../../../src/rendezvous/store/memory-store.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { onTestFinished } from "../../helpers/this-test.js";

/** Examines a node beside two others of this speed, in MB/s. */
async function examined(mode: "quick" | "strict", processor: number) {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const store = new MemoryStore();
	for (const nodeId of ["b", "c"]) {
		const record = {
			...({ version: 1, nodeId, verdict: "passed", findings: [] } as const),
			...{ at: 1, tookMs: 1, speeds: { processor, memory: 1, disk: null } },
		};
		const put = new RunKeys("r").preflightOf(nodeId);
		await store.transaction([], [{ put, value: encodeRecord(record) }]);
	}
	const warnings: string[] = [];
	const preflight = { command: undefined, timeoutMs: 1, mode };
	const record = await passPreflight(
		{
			...{ runId: "r", nodeId: "a", role: "default", localAddr: undefined },
			...{ environment: {}, command: { cwd: path }, preflight, logDir: path },
			...{ endpoints: [], credentials: {} },
		},
		{
			...{ store, clock: systemClock, incarnation: "a-1" },
			...{ temporaryDirectory: path, stop: new AbortController().signal },
			log: {
				...{ debug: () => {}, info: () => {}, error: () => {} },
				warn: (words) => void warnings.push(words),
			},
		},
	);
	return { record, warnings };
}

const SLOW = expect.stringContaining("the processor is slow");

it("D11 quick warns of a slow node, whose verdict does not keep it out", async () => {
	const { record, warnings } = await examined("quick", 1e9);
	expect(record).toMatchObject({ verdict: "warned", nodeId: "a" });
	expect(record?.findings).toEqual(expect.arrayContaining([SLOW]));
	expect(warnings).toEqual(expect.arrayContaining([SLOW]));
});

it("D11 strict keeps a slow node out, and lets one in of which there is nothing to say", async () => {
	const slow = await examined("strict", 1e9);
	expect(slow.record?.verdict).toBe("failed");
	const { record } = await examined("strict", 1e-9);
	// The machine of a test may have little room.
	const others = record?.findings.filter((line) => !line.includes("MB free"));
	expect(others).toEqual([]);
});
