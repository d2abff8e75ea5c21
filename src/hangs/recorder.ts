import { request } from "node:http";
import type { Clock } from "../base/clock.js";
import { isObject } from "../base/shape.js";
import type { Collective, GroupProgress } from "../model/index.js";

/** The dump of a worker's flight recorder, and what it says. */
export interface Recording {
	readonly text: string;
	readonly groups: readonly GroupProgress[];
}

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Asks torch's own server in a worker for its flight recorder. Undefined if it does not answer by `until` on the clock:
 * C code may hold the interpreter, or the process is stopped. Never throws.
 */
export async function askRecorder(
	socketPath: string,
	clock: Clock,
	until: number,
): Promise<Recording | undefined> {
	try {
		const text = await post(socketPath, "/handler/fr_trace_json", clock, until);
		return { text, groups: parseRecorder(text) };
	} catch {
		return undefined;
	}
}

function post(
	socketPath: string,
	path: string,
	clock: Clock,
	until: number,
): Promise<string> {
	return new Promise((resolve, reject) => {
		const asked = request({ socketPath, path, method: "POST" }, (answer) => {
			const parts: Buffer[] = [];
			let size = 0;
			answer.on("data", (part: Buffer) => {
				size += part.length;
				if (size > MOST_BYTES)
					asked.destroy(new Error("its answer is too long"));
				else parts.push(part);
			});
			answer.on("end", () => {
				if (answer.statusCode === 200) {
					resolve(Buffer.concat(parts).toString("utf8"));
				} else reject(new Error(`it answers with ${answer.statusCode}`));
			});
			answer.on("error", reject);
		});
		const cancel = clock.wakeAt(until, () =>
			asked.destroy(new Error("it does not answer")),
		);
		asked.on("error", reject);
		asked.on("close", cancel);
		asked.end();
	});
}

interface Entry extends Collective {
	readonly group: string;
	readonly isOver: boolean;
}

/**
 * The collectives in the answer of torch's flight recorder (`fr_trace_json`), by process group. For gloo an entry's state
 * stays "scheduled": `retired` tells whether it is over. Throws if the text is no JSON; what has another form is left out.
 */
export function parseRecorder(text: string): readonly GroupProgress[] {
	const trace: unknown = JSON.parse(text);
	if (!isObject(trace) || !Array.isArray(trace.entries)) return [];
	const ranksOf = groupRanks(trace.pg_config);
	const groups = new Map<string, Entry[]>();
	for (const entry of trace.entries.flatMap(entryOf)) {
		groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
	}
	return [...groups].map(([group, entries]) => {
		const unfinished = entries
			.filter(({ isOver }) => !isOver)
			.sort((left, right) => left.sequence - right.sequence)[0];
		return {
			group,
			ranks: ranksOf.get(group),
			entered: Math.max(...entries.map(({ sequence }) => sequence)),
			unfinished: unfinished && {
				sequence: unfinished.sequence,
				operation: unfinished.operation,
				shape: unfinished.shape,
			},
		};
	});
}

function entryOf(value: unknown): readonly Entry[] {
	if (!isObject(value) || value.is_p2p === true) return [];
	const { collective_seq_id: sequence, profiling_name: operation } = value;
	if (typeof sequence !== "number" || typeof operation !== "string") return [];
	const { process_group: group, retired, state } = value;
	const name = Array.isArray(group) ? String(group[0]) : "0";
	const isOver = retired === true || state === "completed";
	const shape = shapeOf(value.input_sizes, value.input_dtypes);
	return [{ group: name, sequence, operation, shape, isOver }];
}

function shapeOf(sizes: unknown, types: unknown): string {
	const size = sizes === undefined ? "" : JSON.stringify(sizes);
	const type = Array.isArray(types) ? types.join(",") : "";
	return `${size} ${type}`.trim();
}

/** The recorder writes a group's ranks as a text: "[0, 1]". */
function groupRanks(config: unknown): ReadonlyMap<string, readonly number[]> {
	const ranks = new Map<string, readonly number[]>();
	if (!isObject(config)) return ranks;
	for (const [group, value] of Object.entries(config)) {
		const text = isObject(value) ? value.ranks : undefined;
		const found = typeof text === "string" ? text.match(/\d+/g) : null;
		if (found !== null) ranks.set(group, found.map(Number));
	}
	return ranks;
}
