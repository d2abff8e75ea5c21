import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeRequest } from "../../../src/node-files/requests.js";
import { temporaryFolder } from "../../helpers/processes.js";

it("a command's request is a message of its version", () => {
	const folder = temporaryFolder();
	onTestFinished(folder.remove);
	writeRequest(folder.path, "why-1.json", { id: "1" });
	const text = readFileSync(join(folder.path, "why-1.json"), "utf8");
	expect(JSON.parse(text)).toEqual({ version: 1, id: "1" });
});

it("a directory that takes no request is named, with another way", () => {
	expect(() => writeRequest("/nosuch/x", "stop.json", { reason: "r" })).toThrow(
		expect.objectContaining({
			code: "CHANNEL",
			exitCode: 1,
			message: expect.stringMatching(
				/^the launcher was not asked, its directory \/nosuch\/x takes no request: ENOENT.*; make room there .* elastic-run leave/,
			),
		}),
	);
});
