import { readFileSync } from "node:fs";

/**
 * What a worker has appended to the file of marks: see worker.c.
 *
 * @typedef {object} Mark
 * @property {string} event
 * @property {number} at milliseconds since 1970
 * @property {number} pid
 * @property {number} rank
 * @property {number} worldSize
 * @property {number} figure what some events are told with; undefined of the others
 * @property {number} round which some events are of; undefined of the others
 */

/** @returns {Mark[]} none where there is no such file yet */
export function readMarks(path) {
	const lines = readIfThere(path).split("\n").slice(0, -1);
	return lines.map((line) => {
		const [event = "", nanoseconds, ...numbers] = line.split(" ");
		const [pid, rank, worldSize, figure, round] = numbers.map(Number);
		const at = Number(nanoseconds) / 1e6;
		return { event, at, pid, rank, worldSize, figure, round };
	});
}

/**
 * @param {readonly Mark[]} marks
 * @param {string} [event] of these only
 * @returns {number} when the last of them was made
 */
export function lastOf(marks, event) {
	const those = marks.filter((mark) => [undefined, mark.event].includes(event));
	return Math.max(...those.map(({ at }) => at));
}

/** Empty where there is none. */
export function readIfThere(path) {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
