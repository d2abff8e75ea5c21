import {
	closeSync,
	mkdtempSync,
	openSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { formatDuration } from "../../base/units.js";
import type { AgentConfig } from "../../config/index.js";
import { lastLines } from "../../logs/index.js";
import { describeShellEnd, runShell } from "../../processes/index.js";
import {
	encodeRecord,
	REPLACED,
	type ReplacedRecord,
	RunKeys,
	recordAt,
} from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";
import type { LauncherIo } from "../workers/node-resources.js";
import { shellEnvironment } from "../workers/worker-environment.js";

export type ReplacePlace = Pick<LauncherIo, "clock" | "temporaryDirectory"> & {
	readonly log: Logger;
};

/** What of an agent's configuration counts when a node is replaced. */
export type ReplaceSettings = Parameters<typeof shellEnvironment>[0] &
	Pick<AgentConfig, "replaceNode"> & {
		readonly command: Pick<AgentConfig["command"], "cwd">;
	};

/** Runs the user's command for a node that is to be replaced. Never rejects. */
export async function replaceNode(
	record: ReplacedRecord,
	config: ReplaceSettings,
	place: ReplacePlace,
	opening: Promise<Store>,
): Promise<void> {
	const { log } = place;
	const { nodeId, reason } = record;
	try {
		log.info(`${nodeId} is to be replaced: ${reason}`);
		const commandEnd = await runCommand(record, config, place);
		if (commandEnd === undefined) return;
		log.info(`the command that replaces ${nodeId}: ${commandEnd}`);
		await sayEnd({ ...record, commandEnd }, config, await opening);
	} catch (error) {
		log.warn(`replacing ${nodeId}: ${messageOf(error)}`);
	}
}

/** How it ended, in words; undefined if there is none. */
async function runCommand(
	record: ReplacedRecord,
	config: ReplaceSettings,
	{ clock, log, temporaryDirectory }: ReplacePlace,
): Promise<string | undefined> {
	const { command, timeoutMs } = config.replaceNode;
	if (command === undefined) return undefined;
	// It outlives this agent: pipes would then break under it.
	const folder = mkdtempSync(join(temporaryDirectory, "elastic-run-replace-"));
	const path = join(folder, "output");
	const outputTo = openSync(path, "w", 0o600);
	const about = JSON.stringify({ ...record, runId: config.runId });
	writeFileSync(join(folder, "input"), `${about}\n`, { mode: 0o600 });
	const inputFrom = openSync(join(folder, "input"), "r");
	const begun = clock.now();
	try {
		const end = await runShell(
			{
				...{ command, timeoutMs, inputFrom, outputTo, leavesGroup: true },
				cwd: config.command.cwd,
				environment: shellEnvironment(config),
				stop: new AbortController().signal,
				onLine: () => {},
			},
			clock,
		);
		for (const line of lastLines(path)) log.info(`replace-node: ${line}`);
		const took = formatDuration(clock.now() - begun);
		return `${describeShellEnd(end, timeoutMs)} after ${took}`;
	} finally {
		closeSync(inputFrom);
		closeSync(outputTo);
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Only for people. Somebody may have readmitted the node meanwhile. */
async function sayEnd(
	{ nodeId, incarnation, commandEnd }: ReplacedRecord,
	{ runId }: Pick<AgentConfig, "runId">,
	store: Store,
): Promise<void> {
	const key = new RunKeys(runId).replacedNode(nodeId);
	const snapshot = await store.snapshot([key]);
	const known = recordAt(REPLACED, snapshot, key);
	const modRevision = snapshot.entries.get(key)?.modRevision ?? 0;
	if (known?.incarnation !== incarnation) return;
	const value = encodeRecord({ ...known, commandEnd });
	await store.transaction([{ key, modRevision }], [{ put: key, value }]);
}
