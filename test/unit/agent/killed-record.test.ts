import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { KilledRecord } from "../../../src/agent/presence/ended-run.js";
import type { AgentConfig } from "../../../src/config/agent-config.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const BEGAN = 1_795_000_000_000;

it("C7 a run in which nothing changes has lived until shortly before its launcher was killed", () => {
	const folder = temporaryFolder();
	const clock = new VirtualClock(BEGAN);
	const environment = { XDG_STATE_HOME: folder.path };
	const names = { runId: "night", nodeId: "a", backend: "memory" };
	const log = { debug() {}, info() {}, warn() {}, error() {} };
	const record = new KilledRecord(
		{
			config: { ...names, environment } as unknown as AgentConfig,
			...{ clock, log, temporaryDirectory: folder.path },
		},
		folder.path,
	);
	const times = () =>
		readdirSync(join(folder.path, "elastic-run")).map(
			(name) => Number.parseInt(name, 10) - BEGAN,
		);
	record.follow(snapshotOf({}));
	clock.pass(0);
	expect(times()).toEqual([0]);
	clock.pass(600_000);
	expect(times()).toEqual([600_000]);
	record.remove();
	clock.pass(600_000);
	expect(times()).toEqual([]);
	folder.remove();
});
