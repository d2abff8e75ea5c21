import { describe, expect, it } from "vitest";
import { redact } from "../../../src/logs/create-logger.js";

describe("redact", () => {
	it.each([
		[
			{ password: "a", user: "b" },
			{ password: "[redacted]", user: "b" },
		],
		[
			{ env: { AWS_SECRET_ACCESS_KEY: "a", HOME: "/" } },
			{ env: { AWS_SECRET_ACCESS_KEY: "[redacted]", HOME: "/" } },
		],
		[
			{ headers: [{ Authorization: "a" }] },
			{ headers: [{ Authorization: "[redacted]" }] },
		],
		[
			{ API_KEY: "a", githubToken: "b" },
			{ API_KEY: "[redacted]", githubToken: "[redacted]" },
		],
		[
			{ token: null, key: "/elastic-run/x" },
			{ token: null, key: "/elastic-run/x" },
		],
		[{ url: "etcd://u:p@h:1" }, { url: "etcd://u:[redacted]@h:1" }],
		[
			{ n: 1, yes: true },
			{ n: 1, yes: true },
		],
	])("%j", (details, safe) => {
		expect(redact(details)).toEqual(safe);
	});

	it("keeps an error's message and stack", () => {
		const error = new Error("no https://u:p@h");
		expect(redact({ error })).toMatchObject({
			error: {
				message: "no https://u:[redacted]@h",
				stack: expect.any(String),
			},
		});
	});
});
