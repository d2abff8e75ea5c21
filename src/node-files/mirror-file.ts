import type { Entry, Snapshot } from "../rendezvous/store/store.js";

/** The file in an agent's directory for a run whose state is in the agent's memory: docs/status.md. */
export const MIRROR_FILE = "run.json";

/** The keys of one run, as stored in a file of an agent's directory. */
export interface Mirror {
	readonly runId: string;
	readonly snapshot: Snapshot;
}

export function encodeMirror(runId: string, snapshot: Snapshot): string {
	const { revision, entries } = snapshot;
	return JSON.stringify({
		version: 1,
		runId,
		revision,
		entries: [...entries.values()],
	});
}

/** Undefined if the text is no such file. */
export function decodeMirror(text: string): Mirror | undefined {
	const content = parse(text);
	if (!isRecord(content) || content.version !== 1) return undefined;
	const { runId, revision, entries } = content;
	if (
		typeof runId !== "string" ||
		typeof revision !== "number" ||
		!Array.isArray(entries) ||
		!entries.every(isEntry)
	) {
		return undefined;
	}
	const byKey = entries.map((entry): [string, Entry] => [entry.key, entry]);
	return { runId, snapshot: { revision, entries: new Map(byKey) } };
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function isEntry(value: unknown): value is Entry {
	return (
		isRecord(value) &&
		typeof value.key === "string" &&
		typeof value.value === "string" &&
		typeof value.createRevision === "number" &&
		typeof value.modRevision === "number"
	);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
