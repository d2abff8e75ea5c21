import { describe, expect, it } from "vitest";
import { SnapshotCache } from "../../../src/rendezvous/member/snapshot-cache.js";
import type { Snapshot } from "../../../src/rendezvous/store/store.js";

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
	it("is read from the store, on top of what was known", async () => {
		const { picture, known, answers } = asked();
		expect(picture.revision).toBe(0);
		for (const revision of [3, 4]) {
			const look = picture.look();
			answers.at(-1)?.resolve(at(revision));
			expect(await look).toEqual(at(revision));
			expect(picture.revision).toBe(revision);
		}
		expect(known).toEqual([undefined, 3]);
	});

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

	it("is what is offered while it is being read, and what comes of the reading does not count", async () => {
		const { picture, known, answers } = asked();
		const look = picture.look();
		picture.offer(at(7));
		expect(await look).toEqual(at(7));
		answers[0]?.reject(new Error("no answer in time"));
		const next = picture.look();
		answers[1]?.resolve(at(8));
		expect(await next).toEqual(at(8));
		expect(known).toEqual([undefined, 7]);
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

	it("is what was offered with the change that it is for", async () => {
		const { picture, answers } = asked();
		const look = picture.look(7);
		picture.offer(at(7));
		expect(await look).toEqual(at(7));
		picture.offer(at(8));
		expect(await picture.look(8)).toEqual(at(8));
		expect(answers).toHaveLength(1);
	});

	it("is read again after it was forgotten, and what was offered with it", async () => {
		const { picture, known, answers } = asked();
		picture.offer(at(5));
		await picture.look();
		picture.offer(at(6));
		picture.forget();
		expect(picture.revision).toBe(0);
		const look = picture.look();
		answers.at(-1)?.resolve(at(1));
		expect(await look).toEqual(at(1));
		expect(known).toEqual([undefined]);
	});
});
