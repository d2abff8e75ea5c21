import { type Parsed, problem, quote } from "./parsed.js";
import { oneOf } from "./scalars.js";

/** Where the shared state of a run lives. */
export type Backend = "etcd" | "memory";

/** Backends of torchrun's that have no counterpart by their own name. */
const FOREIGN_BACKENDS: readonly string[] = ["c10d", "static", "etcd-v2"];

const parseOwn = oneOf("etcd", "memory");

export function parseBackend(text: string): Parsed<Backend> {
	return FOREIGN_BACKENDS.includes(text)
		? problem(
				`${quote(text)} is torchrun's; use etcd with --rdzv-endpoint HOST:2379, or memory for one node`,
			)
		: parseOwn(text);
}
