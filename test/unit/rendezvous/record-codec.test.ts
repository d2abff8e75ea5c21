import { describe, expect, it } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import {
	decodeLeased,
	decodeRecord,
	informationAt,
} from "../../../src/rendezvous/records/record-codec.js";
import {
	COORDINATOR,
	NODE,
	ROUND,
	SEAT,
} from "../../../src/rendezvous/records/records.js";
import { SPEC } from "../../../src/rendezvous/records/run-spec.js";
import { WAITING } from "../../../src/rendezvous/records/waiting-record.js";
import { nodeRecord, roundRecord, seatRecord } from "../../helpers/run-view.js";
import {
	outcome,
	RECORDS,
	type Versioned,
} from "../../helpers/stored-records.js";

type Fields = Readonly<Record<string, unknown>>;

/** Of no field's type: a number with a part, one too large, one below 0, a string with control characters, others. */
const NEVER = [
	undefined,
	true,
	-1.5,
	1e300,
	-1,
	"\u001b[2J\n",
	[[]],
	{ x: [] },
];

const isFields = (value: unknown): value is Fields =>
	typeof value === "object" && value !== null;

/** Each field, with all those within it, and all of each list. */
function* pathsOf(value: Fields, before = ""): Generator<string> {
	for (const [name, part] of Object.entries(value)) {
		yield before + name;
		if (isFields(part)) yield* pathsOf(part, `${before}${name}.`);
	}
}

/** The same with another value at this place. */
function changed(value: Fields, path: string, to: unknown): Fields {
	const [name = "", ...rest] = path.split(".");
	const part = value[name];
	const inner =
		rest.length > 0 && isFields(part) ? changed(part, rest.join("."), to) : to;
	return Array.isArray(value)
		? Object.assign([...value], { [name]: inner })
		: { ...value, [name]: inner };
}

const entryOf = (key: string, value: unknown, lease: string | null = "l") => ({
	...{ key: `/elastic-run/r/${key}`, value: JSON.stringify(value), lease },
	...{ createRevision: 1, modRevision: 1 },
});

function refusal(act: () => unknown): string {
	try {
		act();
	} catch (error) {
		expect(error).toBeInstanceOf(ElasticRunError);
		expect(error).toMatchObject({ code: "RENDEZVOUS_FAILED", exitCode: 3 });
		return error instanceof Error ? error.message : "";
	}
	return "";
}

const OTHER_RUN = /--run-id.*elastic-run clean r /;

/** Words may hold anything but have to be words, and a flag may be true. */
const MAY_BE: readonly unknown[] = ["\u001b[2J\n", true, undefined];
/** Numbers of the users' own may be below 0 and have parts, and those of a metric may be huge. */
const ANY_NUMBER =
	/(^|\.)(step|first|furthest\.default|least|usual|most|loss)$/;
const isUsers = (path: string, value: unknown) =>
	typeof value === "number" && ANY_NUMBER.test(path);

describe.each(RECORDS)("the store's key %s", (key, shape, record) => {
	const whole: Fields = Object.fromEntries(Object.entries(record));

	it("is read as it was written, with fields that nobody knows yet", () => {
		const more = { ...whole, later: { x: 1 } };
		expect(decodeRecord(shape, entryOf(key, more))).toEqual(more);
	});

	it("names itself, the field and the fix where a field is wrong", () => {
		for (const path of pathsOf(whole)) {
			for (const value of NEVER) {
				const entry = entryOf(key, changed(whole, path, value));
				const words = refusal(() => decodeRecord(shape, entry));
				if (words === "" && (MAY_BE.includes(value) || isUsers(path, value)))
					continue;
				expect(words, `${path} ${String(value)}`).toContain(entry.key);
				if (path !== "version") {
					const field = path.split(".")[0];
					// A seat without its refusal is taken for a place.
					expect(words).toContain(value === undefined ? " is " : field);
				}
				expect(words).toMatch(OTHER_RUN);
				expect(words).not.toMatch(/\p{Cc}/u);
			}
		}
	});

	it.each([
		"",
		"{",
		"null",
		"[]",
		"7",
		'{"version":1}',
		'{"version":2}',
	])("is refused where it is %j alone", (value) => {
		const entry = { ...entryOf(key, ""), value };
		expect(refusal(() => decodeRecord(shape, entry))).toContain(entry.key);
	});
});

it.each([
	["round", ROUND, roundRecord({ synced: 2.5 }), "synced is 2.5"],
	["round", ROUND, roundRecord({ synced: 1e300 }), "synced is 1e+300"],
	["round", ROUND, roundRecord({ deprecated: 1 }), "at most synced (0)"],
	[
		"round",
		ROUND,
		roundRecord({ outcome: { ...outcome, exitCode: 100_000 } }),
		"outcome.exitCode is 100000, but must be a whole number from 0 to 255",
	],
	["nodes/a", NODE, { ...nodeRecord("a"), nodeId: "\u001b[31m" }, "nodeId is "],
	["round", ROUND, roundRecord({ synced: 1e10 }), "synced is 10000000000"],
	["round", ROUND, { ...roundRecord(), version: 2 }, "no record of version 1"],
	["round", ROUND, { version: 1 }, "instance is missing"],
	["round", ROUND, { ...roundRecord(), seats: "1" }, 'seats is "1"'],
	["round", ROUND, { ...roundRecord(), accounted: {} }, "accounted is {}"],
	["round", ROUND, { ...roundRecord(), cause: null }, "cause is null"],
	["spec", SPEC, { version: 1, minNodes: "2" }, 'minNodes is "2"'],
	[
		"coordinator",
		COORDINATOR,
		{ version: 1, nodeId: 7, incarnation: "x" },
		"nodeId is 7",
	],
	["nodes/a", NODE, { ...nodeRecord("a"), claim: 1e300 }, "claim is 1e+300"],
	[
		"seats/b",
		SEAT,
		{ ...seatRecord("b"), localWorldSize: 1e12 },
		"localWorldSize is 1000000000000",
	],
] as const)("%s says what is wrong: %s", (key, shape, record, words) => {
	const read = () => decodeRecord<Versioned>(shape, entryOf(key, record));
	expect(refusal(read)).toContain(words);
});

it("refuses a record that must have a lease, and has none", () => {
	const entry = entryOf("nodes/a", nodeRecord("a"), null);
	expect(refusal(() => decodeLeased(NODE, entry))).toContain("has no lease");
});

it("leaves out with a warning what only informs people", () => {
	const entry = entryOf("waiting", { version: 1 });
	const warnings: string[] = [];
	const snapshot = { entries: new Map([[entry.key, entry]]) };
	const warn = (words: string) => void warnings.push(words);
	expect(informationAt(WAITING, snapshot, entry.key, warn)).toBeUndefined();
	expect(warnings).toEqual([expect.stringContaining(entry.key)]);
});
