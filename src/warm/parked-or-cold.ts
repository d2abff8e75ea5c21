import { basename } from "node:path";
import type { NextStart } from "../model/start.js";
import {
	type ColdReason,
	cold,
	MOST_QUICK_FAILURES,
	NONE_READY,
	TOO_QUICK,
	type WarmDecision,
} from "./warm-or-cold.js";

/** What is known when a worker that runs under Node is to be started. */
export interface ParkingFacts {
	/** Why no process can wait for this start; undefined if one can. */
	readonly problem: ColdReason | undefined;
	readonly parked: "none" | "stopped" | "ended" | "ready";
	/** What is otherwise in this start than in the one that the process was started for. */
	readonly difference: string | undefined;
	/** How many rounds in a row ended within a second after warm starts. */
	readonly quickFailures: number;
}

const PROCESS = "the process that was started ahead";

/** Whether a worker takes over a process that was started ahead, and why. */
export function parkedOrCold(facts: ParkingFacts): WarmDecision {
	const { problem, parked, difference, quickFailures } = facts;
	if (problem !== undefined) return cold(problem.kind, problem.reason);
	if (quickFailures >= MOST_QUICK_FAILURES) return cold("failing", TOO_QUICK);
	switch (parked) {
		case "none":
			return cold("not-ready", NONE_READY);
		case "stopped":
			return cold("ended", `${PROCESS} was stopped by a signal`);
		case "ended":
			return cold("ended", `${PROCESS} has ended`);
		case "ready":
			return difference === undefined
				? { start: "warm", reason: "its process was started ahead" }
				: cold("changed", difference);
		default:
			return parked satisfies never;
	}
}

/** How the next start would be. `parked`: of each process that waits; `workers`: how many must. */
export function nextParkedStart(
	facts: Pick<ParkingFacts, "problem" | "quickFailures">,
	parked: readonly ParkingFacts["parked"][],
	workers: number,
): NextStart {
	const waiting = parked.filter((state) => state === "ready").length;
	const [other = "none"] = parked.filter((state) => state !== "ready");
	const decision = parkedOrCold({
		...{ ...facts, difference: undefined },
		parked: waiting < workers ? other : "ready",
	});
	return decision.start === "warm"
		? { start: "warm", waiting }
		: { start: "cold", reason: decision.reason };
}

/** Options of Node that act while it starts on what the script may read or change, or begin to record at once, are not among these. */
const HARMLESS_OPTIONS = new Set([
	...["--max-old-space-size", "--max-semi-space-size", "--max-heap-size"],
	...["--stack-size", "--stack-trace-limit", "--expose-gc"],
	...["--enable-source-maps", "--unhandled-rejections", "--conditions", "-C"],
	...["--no-warnings", "--no-deprecation", "--disable-warning"],
	...["--trace-warnings", "--trace-deprecation", "--trace-uncaught"],
	...[
		"--throw-deprecation",
		"--pending-deprecation",
		"--experimental-vm-modules",
	],
	...["--preserve-symlinks", "--preserve-symlinks-main"],
	...["--experimental-strip-types", "--experimental-transform-types"],
	...["--dns-result-order", "--max-http-header-size", "--use-system-ca"],
	...["--use-openssl-ca", "--use-bundled-ca"],
]);

/** Whether this command runs a script under Node with the launcher's hook, or Node itself. */
export function isForNode(
	{ file, args }: { readonly file: string; readonly args: readonly string[] },
	hook: string,
): boolean {
	return hookIndex(args, hook) !== -1 || /^node(js)?$/.test(basename(file));
}

/** In words, why a process for this command cannot wait before its script; undefined if it can. */
export function parkingProblem(
	args: readonly string[],
	hook: string,
	nodeOptions: string | undefined,
): string | undefined {
	if (hookIndex(args, hook) === -1) {
		return "the command starts Node itself: give elastic-run the script";
	}
	const option = (nodeOptions ?? "")
		.split(/\s+/)
		.map((word) => word.replaceAll('"', ""))
		.filter((word) => word.startsWith("-"))
		.find((word) => !HARMLESS_OPTIONS.has(nameOf(word)));
	return option === undefined
		? undefined
		: `NODE_OPTIONS has ${nameOf(option)}`;
}

/** V8 takes underscores as well. */
function nameOf(option: string): string {
	return option.split("=", 1).join("").replaceAll("_", "-");
}

/** Where the hook stands if Node loads it before all else: it runs what `--require` names before what `--import` names. */
function hookIndex(args: readonly string[], hook: string): number {
	const index = args.indexOf(hook);
	const before = args.slice(0, Math.max(0, index));
	const isFirst = before.every((word, at) =>
		at % 2 === 0
			? word === (at === index - 1 ? "--require" : "--import")
			: !word.startsWith("-"),
	);
	return index % 2 === 1 && isFirst ? index : -1;
}

/** What a Node process has in memory before its script, in bytes: its own, and what it shares with others. */
export const BARE_NODE_BYTES = { own: 20e6, shared: 40e6 } as const;
/** Part of the available memory that waiting processes may take. */
const MOST_OF_MEMORY = 0.25;

/** Why so many processes cannot wait on this machine; undefined if they can. */
export function parkingShortage(
	processes: number,
	availableBytes: number | undefined,
): string | undefined {
	if (availableBytes === undefined) return undefined;
	const { own, shared } = BARE_NODE_BYTES;
	const needed = shared + own * processes;
	if (needed <= availableBytes * MOST_OF_MEMORY) return undefined;
	const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
	return `memory is short: ${processes} processes that wait need ${megabytes(needed)}, and ${megabytes(availableBytes)} are available`;
}
