import { expect, it } from "vitest";
import { judgeAnswerer } from "../../../src/hosting/judge-answerer.js";

const fix = "give another port in --rdzv-endpoint, on every node";

it.each([
	[{ kind: "etcd", runId: "100" }, "ours", ""],
	[{ kind: "nobody" }, "awaited", "nothing listens at node0:29400"],
	[{ kind: "mute" }, "awaited", "node0:29400 gives no answer"],
	[{ kind: "etcd", runId: "99" }, "passing", "run 99 still uses node0:29400"],
	[
		{ kind: "etcd", runId: undefined },
		"foreign",
		"an etcd that was not started for a run; to use it give --rdzv-backend etcd",
	],
	[
		{ kind: "stranger" },
		"foreign",
		`node0:29400 is taken by something that is no etcd of this run; ${fix}`,
	],
] as const)("%o at the endpoint is %s", (answerer, kind, words) => {
	const place = { runId: "100", endpoint: "node0:29400" };
	const judged = judgeAnswerer(answerer, place);
	expect(judged.kind).toBe(kind);
	expect("words" in judged ? judged.words : "").toContain(words);
});
