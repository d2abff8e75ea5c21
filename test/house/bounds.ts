import {
	biggestRoom,
	brokenWalls,
	crossingNames,
	decisionNotes,
	floors,
	linesOf,
	longestFile,
	longestFunction,
	machineFloors,
	machineLines,
	roomsWith,
	wordsOfDocs,
} from "./measures.js";

/** A measure of the tree. It must not pass its bound; the goal is where the bound is to be. */
export interface Bound {
	readonly what: string;
	readonly now: number;
	readonly bound: number;
	readonly goal: number;
	/** Where the figure comes from. */
	readonly where: string;
}

/**
 * All measures that reading the sources gives.
 * A bound of size is raised in the commit that needs it, with a line here that says for what.
 */
export function measureHouse(): readonly Bound[] {
	const walls = brokenWalls();
	const names = crossingNames();
	const file = longestFile();
	const longest = longestFunction();
	const room = biggestRoom();
	const plain = { where: "" };
	return [
		{
			// 800 of them are doors. Raised by 4,400 for Python's package, command and checkpoints (2,300), steps and phases
			// of frameworks, stuck peers and starts that hang, hints, roles' terms, ignored failures, torchrun's recipes. By
			// 2,150 for callbacks, trials of imports, addresses, steady time, fresh credentials, ranks that fall behind. By 500
			// for warm starts by default, bytes, same stacks, kept logs, losses, waits after lost leases. By 2,000 for links.
			// By 800 for ends that a machine proves, outages in status, hosts that lost their data, views that watches tell.
			// By 200 for rides on busy machines and of stopped runs, keepers that live through an outage, and records by links.
			// By 1,050 for a tree of links.
			what: "lines of src and bin",
			now: linesOf("src", "bin"),
			bound: 75_350,
			goal: 50_000,
			...plain,
		},
		{
			// Raised by 3,400 for the same, with real frameworks; by 2,500 for networks, clocks, logins, manifests, callbacks;
			// by 650 for what came after these; by 2,550 for links, in the simulator too; by 1,400 for those of the line above, and ratios of the bench; by 1,100 for a tree of links.
			what: "lines of test",
			now: linesOf("test"),
			bound: 81_550,
			goal: 50_000,
			...plain,
		},
		{
			what: "words of docs and README",
			now: wordsOfDocs(),
			// Raised for frameworks, pip, Python's checkpoints, the RFC's trainer, all that differs from torchrun, recipes,
			// kept logs, warm starts by default, links, outages, what etcd is asked.
			bound: 20_700,
			goal: 18_000,
			...plain,
		},
		{
			what: "decision notes",
			now: decisionNotes(),
			bound: 30,
			goal: 30,
			...plain,
		},
		{
			what: "broken walls",
			now: walls.length,
			bound: 0,
			goal: 0,
			where: walls.join("; "),
		},
		{ what: "floors", now: floors, bound: 8, goal: 8, ...plain },
		{
			// Hints, and frames without those of libraries: 4; getPgParameters: 4. What launchAgent gives, lives, ranks behind: 17. How a launcher has left: 1. Links: 10. Outages: 11.
			what: "names that cross a wall",
			now: names.all,
			bound: 728,
			goal: 300,
			...plain,
		},
		{
			what: "of them not through a door",
			now: names.besideDoors,
			bound: 0,
			goal: 0,
			...plain,
		},
		// That something was noticed, and when, is no notice of a machine's end.
		word("notice", /notice(?!d(At|After))/i, 15, 5),
		word("warm", /warm/i, 8, 3),
		// A change and a hangup are no hangs.
		word("hang", /(?<!c)hang(?!up)/i, 9, 4),
		{
			what: "lines of the node's machine",
			now: machineLines(),
			// Raised by 58 for ignored failures and stuck workers.
			bound: 3_010,
			goal: 2_600,
			...plain,
		},
		{
			what: "floors of the node's machine",
			now: machineFloors(),
			bound: 5,
			goal: 5,
			...plain,
		},
		{
			what: "percent of lines in the biggest room",
			now: Math.round(room.percent),
			bound: 15,
			goal: 15,
			where: room.where,
		},
		{
			what: "lines of the longest file",
			now: file.lines,
			bound: 400,
			goal: 400,
			where: file.where,
		},
		{
			what: "lines of the longest function",
			now: longest.lines,
			bound: 60,
			goal: 60,
			where: longest.where,
		},
	];
}

function word(
	text: string,
	pattern: RegExp,
	bound: number,
	goal: number,
): Bound {
	const rooms = roomsWith(pattern);
	return {
		what: `rooms with the word "${text}"`,
		now: rooms.length,
		bound,
		goal,
		where: rooms.join(" "),
	};
}
