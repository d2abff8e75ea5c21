import { expect, it } from "vitest";
import { Cleanups } from "../../../src/base/cleanups.js";

it("undoes all, the newest first; one that fails is told of, and keeps no other from it", async () => {
	const done: string[] = [];
	const warnings: string[] = [];
	const silent = () => {};
	const cleanups = new Cleanups();
	cleanups.add("closing the first", () => done.push("first"));
	cleanups.add("closing the second", async () => {
		throw new Error("it is broken");
	});
	cleanups.add("closing the third", async () => done.push("third"));
	await cleanups.run({
		...{ debug: silent, info: silent, error: silent },
		warn: (message) => warnings.push(message),
	});
	expect(done).toEqual(["third", "first"]);
	expect(warnings).toEqual(["closing the second failed: it is broken"]);
});

it("what is added when all has been undone is undone at once", async () => {
	const done: string[] = [];
	const silent = () => {};
	const cleanups = new Cleanups();
	const log = { debug: silent, info: silent, warn: silent, error: silent };
	await cleanups.run(log);
	cleanups.add("closing the server", () => done.push("server"));
	expect(done).toEqual(["server"]);
});
