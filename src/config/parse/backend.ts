import { type Parsed, problem, quote } from "./parsed.js";
import { oneOf } from "./scalars.js";

/** Where a run's shared state is stored. `c10d`: in an etcd that the agents host; `static` is the same. */
export type Backend = "etcd" | "memory" | "c10d" | "static";

const parseOwn = oneOf("etcd", "memory", "c10d", "static");

export function parseBackend(text: string): Parsed<Backend> {
	return text === "etcd-v2"
		? problem(
				`${quote(text)} is torchrun's; use etcd with --rdzv-endpoint HOST:2379`,
			)
		: parseOwn(text);
}
