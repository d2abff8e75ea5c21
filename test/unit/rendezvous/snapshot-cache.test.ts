import { describe, expect, it } from "vitest";
import { SnapshotCache } from "../../../src/rendezvous/member/snapshot-cache.js";
import type { Entry, Snapshot } from "../../../src/store/store.js";

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

	it("is read whole where the store may be another one, and nothing older that is offered counts", async () => {
		const { picture, known, answers } = asked();
		picture.offer(at(6));
		await picture.look();
		picture.distrust();
		expect(picture.revision).toBe(0);
		picture.offer(at(5));
		const look = picture.look();
		answers[0]?.resolve(at(7));
		expect(await look).toEqual(at(7));
		picture.distrust();
		picture.offer(at(8));
		expect(await picture.look()).toEqual(at(8));
		expect(known).toEqual([undefined]);
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

describe("what watches tell", () => {
	const holding = (...entries: readonly Entry[]) =>
		new Map(entries.map((entry) => [entry.key, entry]));
	const entry = (key: string, modRevision: number): Entry => ({
		...{ key, modRevision, createRevision: 1 },
		...{ value: `${key} at ${modRevision}`, lease: null },
	});
	const enough = () => true;

	/** The round was read at revision 5. */
	async function seen() {
		const { picture, known, answers } = asked();
		picture.offer({ revision: 5, entries: holding(entry("round", 2)) });
		await picture.look();
		return { picture, known, answers };
	}

	it("is shown with what was read last, where that is enough, and nothing is read", async () => {
		const { picture, known } = await seen();
		picture.know(entry("own", 6));
		expect(picture.hear([entry("round", 7)])).toBe(true);
		expect(picture.hear([entry("seat", 8)])).toBe(true);
		expect(await picture.look(0, enough)).toEqual({
			revision: 5,
			entries: holding(entry("round", 7), entry("own", 6), entry("seat", 8)),
		});
		expect(picture.revision).toBe(5);
		expect(known).toEqual([]);
	});

	it.each<[string, number, (told: Snapshot) => boolean]>([
		["it is not enough", 0, () => false],
		["another change is to be seen as well", 6, enough],
		["a change that nobody can name is to be seen", Infinity, enough],
	])("is read where %s", async (_, changed, isEnough) => {
		const { picture, known, answers } = await seen();
		picture.hear([entry("round", 7)]);
		const look = picture.look(changed, isEnough);
		const read = { revision: 9, entries: holding(entry("round", 9)) };
		answers[0]?.resolve(read);
		expect(await look).toEqual(read);
		expect(known).toEqual([5]);
	});

	it("is read the next time: it is in one look only, and what the agent has written is in none", async () => {
		const { picture, known } = await seen();
		picture.hear([entry("round", 7)]);
		await picture.look(0, enough);
		picture.know(entry("own", 8));
		void picture.look(0, enough);
		expect(known).toEqual([5]);
	});

	it("is in every later look: what a write has read back before it does not count", async () => {
		const { picture, known } = await seen();
		picture.hear([entry("round", 7)]);
		await picture.look(0, enough);
		picture.offer({ revision: 6, entries: holding(entry("round", 2)) });
		void picture.look(0, enough);
		expect(known).toEqual([5]);
	});

	it("is not used up by a look at what a write has read back before it", async () => {
		const { picture, answers } = await seen();
		picture.hear([entry("round", 7)]);
		picture.offer({ revision: 6, entries: holding(entry("round", 2)) });
		const look = picture.look(6, enough);
		const read = { revision: 7, entries: holding(entry("round", 7)) };
		answers[0]?.resolve(read);
		expect(await look).toEqual(read);
	});

	it.each([
		["before the last look", entry("round", 4)],
		["already", entry("round", 7)],
		["in the wrong order", entry("round", 6)],
	])("is nothing new where it was told %s", async (_, late) => {
		const { picture } = await seen();
		picture.hear([entry("round", 7)]);
		expect(picture.hear([late])).toBeUndefined();
		const { entries } = await picture.look(0, enough);
		expect(entries.get("round")).toEqual(entry("round", 7));
	});

	it("is for the store to show before the first look, and during one", async () => {
		const { picture, answers } = asked();
		expect(picture.hear([entry("round", 7)])).toBe(false);
		const look = picture.look();
		answers[0]?.resolve(at(8));
		await look;
		void picture.look();
		expect(picture.hear([entry("round", 9)])).toBe(false);
	});

	it("is forgotten once it was read, and where the store is another one", async () => {
		const { picture, answers } = await seen();
		picture.hear([entry("round", 7), entry("seat", 8)]);
		const read = picture.look(7);
		answers[0]?.resolve(at(7));
		await read;
		picture.hear([entry("own", 9)]);
		const told = await picture.look(0, enough);
		expect([...told.entries.keys()]).toEqual(["seat", "own"]);
		const other = picture.look();
		answers[1]?.resolve(at(3));
		await other;
		picture.hear([entry("round", 4)]);
		const later = await picture.look(0, enough);
		expect([...later.entries.keys()]).toEqual(["round"]);
	});
});
