import { expect, it } from "vitest";
import { onceEach } from "../../../src/channel/problems.js";

function hear() {
	const heard: string[] = [];
	return { heard, warn: onceEach((message) => heard.push(message)) };
}

it("passes the first message about a problem on, however the next ones differ", () => {
	const { heard, warn } = hear();
	warn("1.json is broken", "broken");
	warn("2.json is broken", "broken");
	warn("3.json is a folder", "folder");
	expect(heard).toEqual(["1.json is broken", "3.json is a folder"]);
});

it("does not keep all that it ever passed on", () => {
	const { heard, warn } = hear();
	for (let number = 0; number < 10_000; number += 1) warn(`${number}`);
	warn("0");
	warn("9999");
	expect(heard.slice(10_000)).toEqual(["0"]);
});
