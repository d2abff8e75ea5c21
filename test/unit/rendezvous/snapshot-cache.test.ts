import { describe, expect, it } from "vitest";
import { SnapshotCache } from "../../../src/rendezvous/member/snapshot-cache.js";
import type { Snapshot } from "../../../src/store/store.js";

const at = (revision: number): Snapshot => ({ revision, entries: new Map() });

interface Answer {
	readonly resolve: (snapshot: Snapshot) => void;
	readonly reject: (error: unknown) => void;
}

/** A store that answers when the test does, and notes what it was told to be known. */
function asked() {
	const known: (number | undefined)[] = [];
	const answers: Answer[] = [];
	const store = {
		snapshot: (_: readonly string[], before?: Snapshot) => {
			known.push(before?.revision);
			return new Promise<Snapshot>((resolve, reject) => {
				answers.push({ resolve, reject });
			});
		},
	};
	const picture = new SnapshotCache(store, () => ["/r/round"]);
	return { picture, known, answers };
}

describe("what was seen last", () => {
	it("is what was offered, where that is newer, and then nothing is read", async () => {
		const { picture, known } = asked();
		picture.offer(at(5));
		expect(picture.revision).toBe(0);
		expect(await picture.look()).toEqual(at(5));
		expect(picture.revision).toBe(5);
		expect(known).toEqual([]);
	});

	it.each([
		4, 5,
	])("is read where revision %d is offered and 5 was seen", async (revision) => {
		const { picture, known, answers } = asked();
		picture.offer(at(5));
		await picture.look();
		picture.offer(at(revision));
		const look = picture.look();
		answers.at(-1)?.resolve(at(6));
		expect(await look).toEqual(at(6));
		expect(known).toEqual([5]);
	});

	it("is not what was offered too late for a look that has seen more", async () => {
		const { picture, known, answers } = asked();
		const look = picture.look();
		answers[0]?.resolve(at(6));
		picture.offer(at(5));
		expect(await look).toEqual(at(6));
		const next = picture.look();
		answers[1]?.resolve(at(7));
		expect(await next).toEqual(at(7));
		expect(known).toEqual([undefined, 6]);
	});

	it.each([
		["of the change that it is for", 7],
		["of a change that nobody can name", Number.POSITIVE_INFINITY],
	])("is not what was offered without %s", async (_, atLeast) => {
		const { picture, answers } = asked();
		picture.offer(at(5));
		const look = picture.look(atLeast);
		picture.offer(at(6));
		answers[0]?.resolve(at(7));
		expect(await look).toEqual(at(7));
		expect(answers).toHaveLength(1);
	});
});
