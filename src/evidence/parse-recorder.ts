import { isObject } from "../base/shape.js";
import type { Collective, GroupProgress } from "../model/evidence.js";

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
