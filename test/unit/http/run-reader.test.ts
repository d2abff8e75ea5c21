import { expect, test } from "vitest";
import { RunReader } from "../../../src/http/run-reader.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { Snapshot } from "../../../src/store/store.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

/** A store that counts what it is asked, and may be mute or away. */
class CountingStore extends MemoryStore {
	reads = 0;
	watches = 0;
	trouble: "mute" | Error | undefined;

	override async snapshot(selectors: readonly string[]): Promise<Snapshot> {
		this.reads += 1;
		if (this.trouble === "mute") return new Promise(() => {});
		if (this.trouble !== undefined) throw this.trouble;
		return super.snapshot(selectors);
	}

	override watch(...args: Parameters<MemoryStore["watch"]>) {
		this.watches += 1;
		const watch = super.watch(...args);
		return {
			close: () => {
				this.watches -= 1;
				watch.close();
			},
		};
	}
}

function open() {
	const clock = new VirtualClock();
	const store = new CountingStore();
	const reader = new RunReader({ store, clock, prefix: "/run/" });
	return { clock, store, reader };
}

const put = (store: MemoryStore, value: string) =>
	store.transaction([], [{ put: "/run/a", value }]);
const valueIn = ({ snapshot }: { snapshot: Snapshot | undefined }) =>
	snapshot?.entries.get("/run/a")?.value;

test("a run is read when somebody asks, and again only after it has changed", async () => {
	const { clock, store, reader } = open();
	await put(store, "1");
	await clock.advance(60_000);
	expect(store).toMatchObject({ reads: 0, watches: 0 });
	expect(valueIn(await reader.read())).toBe("1");
	await clock.advance(1_000);
	await reader.read();
	expect(store).toMatchObject({ reads: 1, watches: 1 });

	await put(store, "2");
	await settle();
	// Nobody asks: the first hint was the last, and nothing is read.
	expect(store).toMatchObject({ reads: 1, watches: 0 });
	expect(valueIn(await reader.read())).toBe("2");
	expect(store).toMatchObject({ reads: 2, watches: 1 });
	expect(clock.nextAlarm).toBeUndefined();
});

test("changes that come close to each other cost one read, and so do many who ask", async () => {
	const { clock, store, reader } = open();
	await Promise.all([reader.read(), reader.read(), reader.read()]);
	expect(store.reads).toBe(1);
	for (const value of ["1", "2", "3"]) {
		await put(store, value);
		await settle();
		await reader.read();
	}
	expect(store.reads).toBe(1);
	await clock.advance(200);
	expect(valueIn(await reader.read())).toBe("3");
	expect(store.reads).toBe(2);
});

test("a change whose hint got lost is seen a little later", async () => {
	const { clock, store, reader } = open();
	store.watch = () => ({ close: () => {} });
	await reader.read();
	await put(store, "1");
	await clock.advance(4_000);
	expect(valueIn(await reader.read())).toBeUndefined();
	await clock.advance(1_000);
	expect(valueIn(await reader.read())).toBe("1");
});

test("a store that does not answer keeps nobody waiting for more than a second", async () => {
	const { clock, store, reader } = open();
	await put(store, "1");
	await reader.read();
	store.trouble = "mute";
	await clock.advance(5_000);
	const asked = reader.read();
	await clock.advance(1_000);
	const reading = await asked;
	expect(valueIn(reading)).toBe("1");
	expect(reading.problem).toBe("the store has not answered yet");
	expect(clock.nextAlarm).toBeUndefined();
});

test("a store that is away is said so, and asked again once it may be back", async () => {
	const { clock, store, reader } = open();
	store.trouble = new Error("connection refused");
	expect(await reader.read()).toMatchObject({
		...{ snapshot: undefined, problem: "connection refused" },
	});
	store.trouble = undefined;
	await put(store, "1");
	await clock.advance(200);
	const reading = await reader.read();
	expect(valueIn(reading)).toBe("1");
	expect(reading).toMatchObject({ problem: null, latencyMs: 0 });
});

test("a reader that is closed asks the store no more", async () => {
	const { clock, store, reader } = open();
	await reader.read();
	reader.close();
	await clock.advance(60_000);
	await reader.read();
	expect(store).toMatchObject({ reads: 1, watches: 0 });
});
