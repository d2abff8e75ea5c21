import { describe, expect, it } from "vitest";
import { renderPrefix } from "../../../src/logs/prefix.js";

const values = { node: "node-a", rank: 5, localRank: 1, role: "ps", round: 3 };
const show = (template: string, colour = false) =>
	Buffer.from(renderPrefix(template, values, colour)).toString();
const named = (...names: string[]) => names.map((name) => `\${${name}}`);

describe("renderPrefix", () => {
	it.each([
		[`[${named("node", "rank").join(" ")}] `, "[node-a 5] "],
		[named("role", "local_rank", "round").join(":"), "ps:1:3"],
		[named("rank", "rank").join(""), "55"],
		["", ""],
		[
			named("nobody", "toString").join(""),
			named("nobody", "toString").join(""),
		],
		["$rank {rank}", "$rank {rank}"],
	])("%s", (template, text) => {
		expect(show(template)).toBe(text);
	});

	it("colours by rank", () => {
		expect(show(named("rank").join(""), true)).toBe("\x1b[96m5\x1b[39m");
	});
});
