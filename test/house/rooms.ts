/** The rooms, by floor: an arrow down is allowed, up or sideways is not. */
export const FLOORS: readonly (readonly string[])[] = [
	["src/base/"],
	["src/channel/", "src/model/", "src/policies/", "src/store/"],
	["src/config/", "src/links/", "src/logs/", "src/processes/", "src/runtime/"],
	[
		"src/checkpoint/",
		"src/failures/",
		"src/node-files/",
		"src/notices/",
		"src/rendezvous/",
		"src/steps/",
		"src/warm/",
	],
	["src/hangs/", "src/hosting/", "src/status/"],
	["src/agent/", "src/http/", "src/operate/"],
	["src/launch/"],
	["bin/", "src/index.ts"],
];

/** Rooms whose folders have an order of their own: from the ground up, by the same rule. */
export const FLOORS_INSIDE: readonly (readonly (readonly string[])[])[] = [
	[
		["src/rendezvous/records/"],
		["src/rendezvous/access/", "src/rendezvous/planner/"],
		["src/rendezvous/member/"],
	],
	[
		["src/agent/machine/"],
		["src/agent/workers/"],
		["src/agent/joining/", "src/agent/presence/"],
		["src/agent/"],
	],
];

/** What must not import what, types included. */
export const WALLS: readonly (readonly [from: string, ...to: string[]])[] = [
	["src/processes/", "src/rendezvous/records/", "src/rendezvous/planner/"],
	["src/warm/", "src/rendezvous/records/", "src/rendezvous/planner/"],
	["src/steps/", "src/rendezvous/records/", "src/rendezvous/planner/"],
	["src/hangs/", "src/rendezvous/records/", "src/rendezvous/planner/"],
	["src/failures/", "src/rendezvous/", "src/agent/"],
	["src/config/", "src/rendezvous/records/", "src/rendezvous/planner/"],
	["src/operate/", "src/agent/"],
	["src/http/", "src/agent/"],
	["src/hosting/", "src/agent/"],
	["src/agent/machine/", "src/rendezvous/planner/"],
	["src/status/", "src/rendezvous/planner/"],
];

/** Everybody's tools: each file for itself. */
export const SHELF = "src/base/";

/** What others import of a room, at once: its `index.ts`, or what the package itself exports. */
export function isDoor(file: string): boolean {
	return file.endsWith("/index.ts") || file === "src/runtime/runtime.ts";
}

export interface Place {
	readonly room: string;
	readonly floor: number;
}

/** A file's room and floor; a floor that is not a number where it has none. */
export function placeOf(file: string): Place {
	return placeIn(FLOORS, file);
}

export function placeIn(
	floors: readonly (readonly string[])[],
	file: string,
): Place {
	for (const [floor, rooms] of floors.entries()) {
		const room = rooms.find((name) => file.startsWith(name));
		if (room !== undefined) return { room, floor };
	}
	return { room: file, floor: Number.NaN };
}
