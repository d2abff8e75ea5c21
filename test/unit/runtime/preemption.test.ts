import { expect, it } from "vitest";
import type { OutgoingNotice } from "../../../src/channel/worker-channel.js";
import {
	acknowledgeNotice,
	listenForNotices,
	type Preemption,
	showNotice,
} from "../../../src/runtime/preemption.js";
import { work, workerInfo } from "../channel/samples.js";
import { FakeSource, settle } from "./fake-source.js";

const notice = (source: string | null, deadline: number | null = 90) =>
	({
		...{ kind: "NOTICE", workerState: "HEALTHY", changeEvent: null },
		...{ instance: 1, round: 1, workerInfo: workerInfo(1) },
		...{ source, deadline, reason: "spot interruption" },
	}) satisfies OutgoingNotice;

function source(): FakeSource {
	const fake = new FakeSource();
	fake.put(work(1));
	return fake;
}

it("preemption() is the notice that holds; to read it is not to be ready to end", () => {
	const fake = source();
	expect(showNotice(fake)).toBeNull();
	fake.sendNotice(notice("aws"));
	const shown = showNotice(fake);
	expect(shown).toEqual({
		...{ source: "aws", deadline: 90, reason: "spot interruption" },
	});
	showNotice(fake);
	expect(fake.words).toEqual(["NOTICED 2"]);
	if (shown) acknowledgeNotice(fake, shown);
	expect(fake.words).toEqual(["NOTICED 2", "ACK 2"]);
	fake.sendNotice(notice(null, null));
	expect(showNotice(fake)).toBeNull();
});

it("a listener gets the present notice and each later one, and has acknowledged it when it is done", async () => {
	const fake = source();
	fake.sendNotice(notice("aws"));
	const heard: (number | null)[] = [];
	let save: () => void = () => {};
	const close = listenForNotices(fake, ({ deadline }: Preemption) => {
		heard.push(deadline);
		return new Promise<void>((resolve) => {
			save = resolve;
		});
	});
	await settle();
	expect([heard, fake.words]).toEqual([[90], ["NOTICED 2"]]);
	save();
	await settle();
	expect(fake.words).toEqual(["NOTICED 2", "ACK 2"]);
	fake.sendNotice(notice(null, null));
	fake.send(work(2));
	fake.sendNotice(notice("aws", 50));
	await settle();
	expect([heard, fake.words.at(-1)]).toEqual([[90, 50], "NOTICED 5"]);
	close();
	expect(fake.lookers.size).toBe(0);
});

it("a listener that is late does not get a notice that was withdrawn, or has another deadline by now", async () => {
	const fake = source();
	const heard: (number | null)[] = [];
	let goOn: () => void = () => {};
	const close = listenForNotices(fake, ({ deadline }: Preemption) => {
		heard.push(deadline);
		return new Promise<void>((resolve) => {
			goOn = resolve;
		});
	});
	fake.sendNotice(notice("aws", 90));
	fake.sendNotice(notice(null, null));
	await settle();
	expect([heard, fake.words]).toEqual([[], []]);
	fake.sendNotice(notice("aws", 80));
	await settle();
	fake.sendNotice(notice("aws", 70));
	fake.sendNotice(notice(null, null));
	fake.sendNotice(notice("aws", 60));
	fake.sendNotice(notice("aws", 50));
	goOn();
	await settle();
	expect(heard).toEqual([80, 50]);
	expect(fake.words).toEqual(["NOTICED 4", "ACK 4", "NOTICED 8"]);
	close();
});
