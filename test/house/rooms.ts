/** The rooms, by floor: an arrow down is allowed, up or sideways is not. */
export const FLOORS: readonly (readonly string[])[] = [
	["src/base/"],
	["src/model/", "src/channel/", "src/policies/", "src/rendezvous/store/"],
	["src/config/", "src/processes/", "src/rendezvous/records/", "src/runtime/"],
	[
		"src/logs/",
		"src/notices/",
		"src/node-files/",
		"src/rendezvous/access/",
		"src/rendezvous/planner/",
		"src/warm/",
	],
	[
		"src/failures/",
		"src/hosting/",
		"src/rendezvous/describe/",
		"src/rendezvous/member/",
		"src/steps/",
	],
	["src/goodput/", "src/hangs/", "src/report/"],
	["src/agent/machine/", "src/operate/"],
	["src/agent/workers/"],
	["src/agent/joining/", "src/agent/presence/"],
	["src/agent/"],
	["src/launch/"],
	["src/index.ts", "bin/"],
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

/** Rooms of which others see only what `index.ts` exports. */
export const CLOSED_ROOMS: readonly string[] = ["src/processes/", "src/warm/"];

export interface Place {
	readonly room: string;
	readonly floor: number;
}

/** A file's room and floor; a floor that is not a number where it has none. */
export function placeOf(file: string): Place {
	for (const [floor, rooms] of FLOORS.entries()) {
		const room = rooms.find((name) => file.startsWith(name));
		if (room !== undefined) return { room, floor };
	}
	return { room: file, floor: Number.NaN };
}
