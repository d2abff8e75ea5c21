import { beforeEach, describe, expect, it } from "vitest";
import type {
	LinkedAgent,
	RecordWrite,
	RecordWritten,
} from "../../../src/model/index.js";
import {
	type RecordLinks,
	RecordRelay,
} from "../../../src/rendezvous/member/record-relay.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { Store } from "../../../src/store/store.js";
import { nodeRecord, roundRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const TTL_MS = 5_000;
const LINK = { address: "127.0.0.1", port: 1, secret: "5ec4e7" };

/** A store that takes its time, and counts. */
class SlowStore extends MemoryStore {
	readonly sizes: number[] = [];
	private answered = Promise.resolve();
	private release = () => {};

	hold(): void {
		this.answered = new Promise((resolve) => {
			this.release = resolve;
		});
	}

	goOn(): Promise<void> {
		this.release();
		return settle();
	}

	override async transaction(...about: Parameters<Store["transaction"]>) {
		this.sizes.push(about[1].length);
		await this.answered;
		return super.transaction(...about);
	}
}

/** One end of links, which keeps what is said. */
class Ends implements RecordLinks {
	isLinked = true;
	readonly asked: RecordWrite[] = [];
	readonly answers: (RecordWritten & { readonly to: string })[] = [];
	take: (from: LinkedAgent, write: RecordWrite) => void = () => {};
	learn: (written: RecordWritten | undefined) => void = () => {};

	askHead(write: RecordWrite): boolean {
		if (this.isLinked) this.asked.push(write);
		return this.isLinked;
	}

	answer(to: string, written: RecordWritten): void {
		this.answers.push({ to, ...written });
	}

	onRecords(take: typeof this.take, learn: typeof this.learn): void {
		this.take = take;
		this.learn = learn;
	}
}

describe("A6 J22 records that are written together", () => {
	let clock: VirtualClock;
	let store: SlowStore;
	let links: Ends;
	let relay: RecordRelay;
	let round: number;
	let lease: string;

	beforeEach(async () => {
		clock = new VirtualClock();
		store = new SlowStore();
		const value = encodeRecord(roundRecord());
		({ revision: round } = await store.transaction(
			[],
			[{ put: KEYS.round, value }],
		));
		lease = (await store.openLease(TTL_MS)).id;
		links = new Ends();
		relay = new RecordRelay({
			...{ clock, store, keys: KEYS, links, leaseTtlMs: TTL_MS },
		});
		store.sizes.length = 0;
	});

	const recordOf = (nodeId: string, more: Partial<NodeRecord> = {}) =>
		nodeRecord(nodeId, { incarnation: `${nodeId}-1`, link: LINK, ...more });
	const agent = (nodeId: string): LinkedAgent => {
		return { nodeId, incarnation: `${nodeId}-1`, link: LINK };
	};
	const held = async (nodeId: string) => {
		const { entries } = await store.snapshot([KEYS.node(nodeId)]);
		return entries.get(KEYS.node(nodeId));
	};

	describe("by the head", () => {
		const ask = (
			nodeId: string,
			more: Partial<RecordWrite> & { record?: Partial<NodeRecord> } = {},
		) => {
			const { record, ...write } = more;
			const hidden = { ...LINK, secret: "" };
			links.take(agent(nodeId), {
				...{ number: 1, round, present: 0, lease },
				value: encodeRecord(recordOf(nodeId, { link: hidden, ...record })),
				...write,
			});
		};
		const answers = () =>
			links.answers.map(({ to, revision }) => [to, revision !== null]);

		it("are those that came while it wrote, at most a hundred; each agent hears of its own", async () => {
			store.hold();
			const names = Array.from({ length: 130 }, (_, index) => `n${index}`);
			for (const nodeId of names) ask(nodeId);
			await store.goOn();
			expect(store.sizes).toEqual([1, 100, 29]);
			expect(answers()).toEqual(names.map((name) => [`${name}-1`, true]));
			const entry = await held("n129");
			expect(entry?.modRevision).toBe(links.answers.at(-1)?.revision);
			expect(entry?.value).toBe(encodeRecord(recordOf("n129")));
			expect(entry?.lease).toBe(lease);
		});

		it("are of one round, and the last wish of each node", async () => {
			store.hold();
			ask("a");
			ask("b", { round: round + 1 });
			ask("c", { number: 1 });
			ask("c", { number: 2, record: { state: "running" } });
			await store.goOn();
			expect(store.sizes).toEqual([1, 1, 1]);
			expect(answers()).toEqual([
				["a-1", true],
				["b-1", false],
				["c-1", true],
			]);
			expect(links.answers.at(-1)?.number).toBe(2);
			expect(JSON.parse((await held("c"))?.value ?? "")).toMatchObject({
				state: "running",
			});
		});

		it("are not written where one of them is out of date: each agent writes for itself", async () => {
			store.hold();
			ask("a");
			ask("b");
			ask("c", { present: 99 });
			await store.goOn();
			expect(answers()).toEqual([
				["a-1", true],
				["b-1", false],
				["c-1", false],
			]);
			expect(await held("b")).toBeUndefined();
		});

		it.each([
			["of another node", { nodeId: "b" }],
			["of another process of the node", { incarnation: "a-2" }],
			["of no shape", { claim: -1 }],
		])("are no records %s", async (_, record) => {
			ask("a", { record });
			await settle();
			expect(answers()).toEqual([["a-1", false]]);
			expect(store.sizes).toEqual([]);
		});

		it("go on after a store that does not answer", async () => {
			const transaction = store.transaction.bind(store);
			store.transaction = () => Promise.reject(new Error("away"));
			ask("a");
			await settle();
			store.transaction = transaction;
			ask("b");
			await settle();
			expect(answers()).toEqual([
				["a-1", false],
				["b-1", true],
			]);
		});
	});

	describe("by asking the head", () => {
		const write = (seats = 33, more: Partial<NodeRecord> = {}) =>
			relay.write({
				...{ record: recordOf("a", more), seats, lease },
				...{ round, present: 3 },
			});

		it("resolve with the revision, and keep the secret", async () => {
			const written = write();
			const [asked] = links.asked;
			expect(asked).toMatchObject({ round, present: 3, lease });
			expect(asked?.value).not.toContain(LINK.secret);
			links.learn({ number: 0, revision: 8 });
			links.learn({ number: asked?.number ?? 0, revision: 9 });
			expect(await written).toBe(9);
		});

		it.each<[string, (number: number) => void]>([
			["the head says no", (number) => links.learn({ number, revision: null })],
			["its connection ends", () => links.learn(undefined)],
			["it says nothing in time", () => clock.advance(0.1 * TTL_MS)],
		])("are left to the agent where %s", async (_, happens) => {
			const written = write();
			happens(links.asked[0]?.number ?? 0);
			expect(await written).toBeUndefined();
		});

		it("are not asked for in a small round, without a connection, nor if they are long", async () => {
			expect(await write(32)).toBeUndefined();
			expect(await write(33, { cause: "x".repeat(20_000) })).toBeUndefined();
			expect(links.asked).toEqual([]);
			links.isLinked = false;
			expect(await write()).toBeUndefined();
		});
	});
});
