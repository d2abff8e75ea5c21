import { addressOf } from "../config/parse/endpoints.js";
import type { Answerer } from "./gateway.js";

/** What an answer at an endpoint means for an agent whose run meets there. */
export type Judgement =
	/** The etcd of this run. */
	| { readonly kind: "ours" }
	/** Nothing answers yet. */
	| { readonly kind: "awaited"; readonly words: string }
	/** The etcd of another run: it ends with that run. */
	| { readonly kind: "passing"; readonly words: string }
	/** It does not end by itself. */
	| { readonly kind: "foreign"; readonly words: string };

/** Judges an answer at an endpoint. The words explain it and give the fix. */
export function judgeAnswerer(
	answerer: Answerer,
	{ runId, endpoint }: { readonly runId: string; readonly endpoint: string },
): Judgement {
	switch (answerer.kind) {
		case "nobody":
			return { kind: "awaited", words: `nothing listens at ${endpoint}` };
		case "mute":
			return { kind: "awaited", words: `${endpoint} gives no answer` };
		case "stranger":
			return {
				kind: "foreign",
				words: takenWords(endpoint, "something that is no etcd of this run"),
			};
		case "etcd":
			if (answerer.runId === runId) return { kind: "ours" };
			if (answerer.runId !== undefined) {
				const words = `run ${answerer.runId} still uses ${endpoint}`;
				return { kind: "passing", words };
			}
			return {
				kind: "foreign",
				words: takenWords(
					endpoint,
					"an etcd that was not started for a run; to use it give --rdzv-backend etcd",
				),
			};
	}
}

/** Says that another process has the port, and what to do. */
export function takenWords(endpoint: string, who: string): string {
	const { port } = addressOf(endpoint);
	return `${endpoint} is taken by ${who}; give another port in --rdzv-endpoint, on every node (on that machine, ss -ltnp 'sport = :${port}' shows the process)`;
}
