import { describe, expect, it } from "vitest";
import { settle } from "../../../helpers/virtual-clock.js";
import { answerOf, changes, puts, watchesOf } from "./watched-etcd.js";

describe("watches", () => {
	it("share a stream, one watch of etcd's for each selector", async () => {
		const { watch, streams, latest } = watchesOf();
		watch("a", ["round", "seats/"]);
		watch("b", ["round"]);
		await settle();
		watch("c", ["nodes/"]);
		expect(streams()).toHaveLength(1);
		expect(
			latest().requests.map(({ create_request }) =>
				String(create_request?.key),
			),
		).toEqual(["round", "seats/", "round", "nodes/"]);
	});

	it("tell whom a change concerns, and once of what comes together", async () => {
		const { watch, latest, grant, told, counted } = watchesOf();
		watch("a", ["round", "seats/"]);
		watch("b", ["round"]);
		await settle();
		grant(3);
		expect(await told()).toEqual([]);
		latest().answer(changes("0", 3));
		latest().answer(changes("1"));
		expect(await told()).toEqual(["a"]);
		latest().answer(changes("2"));
		latest().answer(changes("99"));
		expect(await told()).toEqual(["b"]);
		expect(counted).toEqual([3, 1, 1]);
	});

	it("tell what the keys hold then, of all that comes together; of a deletion only that something has changed", async () => {
		const { watch, latest, grant, newsOf } = watchesOf();
		watch("a", ["round", "seats/"]);
		await settle();
		grant(2);
		latest().answer(puts("0", 2, { round: "r2" }));
		latest().answer(puts("1", 3, { "seats/a": "s3", "seats/b": "t3" }));
		latest().answer(puts("0", 4, { round: "r4" }));
		expect(await newsOf()).toEqual([
			[
				["round", "r2"],
				["seats/a", "s3"],
				["seats/b", "t3"],
				["round", "r4"],
			],
		]);
		latest().answer(puts("0", 5, { round: "r5" }));
		latest().answer(puts("1", 6, { "seats/a": null }));
		latest().answer(puts("0", 7, { round: "r7" }));
		expect(await newsOf()).toEqual([undefined]);
		latest().answer(puts("0", 8, { round: "r8" }));
		expect(await newsOf()).toEqual([[["round", "r8"]]]);
	});

	it("tell nothing of what was missed", async () => {
		const { watch, latest, grant, newsOf } = watchesOf();
		watch("a", ["round"], 1);
		await settle();
		grant(1, { revision: 5 });
		latest().answer(puts("0", 6, { round: "r6" }));
		expect(await newsOf()).toEqual([undefined]);
	});

	it.each([
		[7, 7, []],
		[7, 8, ["a"]],
		// Its data is gone, or this member lags behind.
		[7, 3, ["a"]],
	])("tell at once who has seen revision %i where etcd is at %i: %j", async (after, revision, expected) => {
		const { watch, grant, told } = watchesOf();
		watch("a", ["round"], after);
		await settle();
		grant(1, { revision });
		expect(await told()).toEqual(expected);
	});

	it("tell nobody who has closed, and cancel in etcd what he asked for", async () => {
		const { watch, latest, grant, told } = watchesOf();
		const early = watch("early", ["round"]);
		const late = watch("late", ["round"], 0);
		watch("c", ["round"]);
		await settle();
		early.close();
		grant(3);
		late.close();
		latest().answer(changes("1"));
		expect(await told()).toEqual([]);
		expect(
			latest().requests.flatMap(({ cancel_request }) => cancel_request ?? []),
		).toEqual([{ watch_id: "0" }, { watch_id: "1" }]);
	});

	it("close the stream with the last of them, and open another for the next one", async () => {
		const { clock, watch, streams, latest, watches } = watchesOf();
		watch("a", ["round"]).close();
		await settle();
		expect(streams()).toHaveLength(0);
		const second = watch("b", ["round"]);
		await settle();
		second.close();
		expect(latest().isOpen).toBe(false);
		expect(clock.nextAlarm).toBeUndefined();
		watch("c", ["round"]);
		await settle();
		expect(streams()).toHaveLength(2);
		watches.close();
		expect(latest().isOpen).toBe(false);
		watch("d", ["round"]).close();
		expect(clock.nextAlarm).toBeUndefined();
	});
});

describe("watches whose stream breaks", () => {
	it("are asked for again over another connection, and tell everybody then", async () => {
		const { clock, clients, watch, latest, grant, told } = watchesOf();
		watch("a", ["round"], 7);
		watch("b", ["seats/"], 7);
		await settle();
		grant(2, { revision: 7 });
		latest().end({ code: 14, details: "Connection dropped" });
		await clock.advance(25);
		expect(clients).toHaveLength(2);
		expect(latest().requests).toHaveLength(2);
		expect(await told()).toEqual([]);
		// Whatever the revision is: what happened meanwhile is not known.
		grant(2, { revision: 7 });
		expect(await told()).toEqual(["a", "b"]);
	});

	it("are asked for again over the same connection where etcd has cancelled one", async () => {
		const { clock, clients, watch, latest, grant, told } = watchesOf();
		watch("a", ["round"]);
		await settle();
		grant(1);
		latest().answer(
			answerOf({ watch_id: "0", canceled: true, compact_revision: "9" }),
		);
		await clock.advance(25);
		grant(1);
		expect(clients).toHaveLength(1);
		expect(await told()).toEqual(["a"]);
	});

	it("give up a connection over which they are not granted in time; each answer gives the others more", async () => {
		const { clock, clients, watch, grant } = watchesOf();
		for (const name of ["a", "b", "c"]) watch(name, ["round"]);
		await settle();
		await clock.advance(900);
		grant(1);
		await clock.advance(900);
		grant(1, { from: 1 });
		await clock.advance(999);
		expect(clients[0]?.closedAs).toBeUndefined();
		await clock.advance(1);
		expect(clients[0]?.closedAs?.details).toBe(
			"the connection was given up: no watch was granted within 1000 ms",
		);
	});

	it("are tried again where there is no token yet", async () => {
		let tries = 0;
		const token = async () => {
			tries += 1;
			if (tries === 1) throw new Error("not yet");
			return "token";
		};
		const { clock, watch, streams, latest } = watchesOf({ token });
		watch("a", ["round"]);
		await settle();
		expect(streams()).toHaveLength(0);
		await clock.advance(25);
		expect(latest().token).toBe("token");
	});
});

describe("a watch that etcd refuses", () => {
	const refusal = answerOf({ created: true, canceled: true, watch_id: "-1" });

	it("is asked for again with another token, for it may have been the token's fault", async () => {
		const tokens = ["old", "new"];
		const { clock, clients, watch, latest, grant, told, refusedTokens } =
			watchesOf({
				token: async () => tokens.shift(),
			});
		watch("a", ["round"]);
		watch("b", ["round"]);
		await settle();
		latest().answer(refusal);
		await clock.advance(25);
		expect(latest().token).toBe("new");
		expect(refusedTokens).toEqual(["old"]);
		grant(2);
		expect(await told()).toEqual(["a", "b"]);
		expect(clients).toHaveLength(1);
	});

	it("is left out for longer and longer, and the others go on", async () => {
		const { clock, watch, streams, latest, grant, told } = watchesOf();
		watch("refused", ["foreign"]);
		watch("a", ["round"]);
		await settle();
		latest().answer(refusal);
		await clock.advance(25);
		const keys = () =>
			latest().requests.map(({ create_request }) =>
				String(create_request?.key),
			);
		expect(keys()).toEqual(["round"]);
		grant(1);
		expect(await told()).toEqual(["a"]);
		// It is asked for after 1 s, then after 2 s, then after 4 s.
		for (const waitMs of [1_000, 2_000, 4_000]) {
			const count = streams().length;
			await clock.advance(waitMs - 100);
			expect(keys()).toEqual(["round"]);
			await clock.advance(100);
			expect(keys()).toEqual(["round", "foreign"]);
			latest().answer(refusal);
			await clock.advance(25);
			grant(1);
			expect(streams()).toHaveLength(count + 1);
		}
	});
});
