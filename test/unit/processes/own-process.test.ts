import { expect, test } from "vitest";
import { pid1Warning } from "../../../src/processes/own-process.js";

test("process 1 is told what reaps, others of nothing", () => {
	expect(pid1Warning({ pid: 1 })).toMatch(/docker run --init.*"tini", "--"/);
	expect(pid1Warning({ pid: 12 })).toBeUndefined();
});
