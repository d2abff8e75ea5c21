import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bundle } from "./scale/bundle.js";

const MANY = 5_000;
const SMOKE = 20;
const IDLE_MS = 10_000;
const LONGEST_MS = 120_000;
const LOOKS_EVERY_MS = 50;
const PROGRAM = fileURLToPath(new URL("tree/tree.ts", import.meta.url));
const BARE = "a bare server";

/**
 * What it costs the first node's launcher to hold the links of all others.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const TREE_FIGURES = [
	{
		name: `links-${MANY}`,
		title: `processor of the first agent that asks ${MANY} others by links to their speakers, until all have answered`,
		unit: "ms",
		rounds: 5,
		peers: [],
		goal: { atMost: 3, times: [BARE] },
		beside: [{ name: BARE, measure: (_, session) => session.bare.ask() }],
		async open({ scratch, isQuick, isSmoke }) {
			const program = await bundle(scratch, PROGRAM);
			const size = isSmoke ? SMOKE : MANY;
			const linked = await openTree(program, "head", size);
			const bare = await openTree(program, "bare", size).catch((error) =>
				linked.close().then(() => Promise.reject(error)),
			);
			const idle = await linked.idle(isQuick ? IDLE_MS / 10 : IDLE_MS);
			return {
				bare,
				measure: () => linked.ask(),
				notes: () => [
					`${size} agents were known ${linked.afterMs.toFixed(0)} ms after the first call; idle they take ${idle.toFixed(2)} % of a core, and ${linked.rssMb.toFixed(0)} MB in all`,
				],
				async close() {
					await Promise.all([linked.close(), bare.close()]);
				},
			};
		},
	},
];

async function openTree(program, role, size) {
	const head = start(program, role);
	const [{ port, secret }] = await once(head, "message");
	const given = secret === undefined ? [] : [secret];
	const startedAt = performance.now();
	const members = start(program, "members", size, port, ...given);
	const ask = async (what) => {
		const answered = once(head, "message");
		head.send(what);
		const [told] = await answered;
		return told;
	};
	const close = () => Promise.all([head, members].map(end));
	let told = await ask("look");
	while (told.linked < size) {
		if (performance.now() - startedAt > LONGEST_MS) {
			await close();
			throw new Error(`only ${told.linked} of ${size} links`);
		}
		await sleep(LOOKS_EVERY_MS);
		told = await ask("look");
	}
	return {
		afterMs: performance.now() - startedAt,
		rssMb: told.rssMb,
		async ask() {
			const before = await ask("look");
			const after = await ask("ask");
			return after.processorMs - before.processorMs;
		},
		async idle(ms) {
			const before = await ask("look");
			await sleep(ms);
			const after = await ask("look");
			return (100 * (after.processorMs - before.processorMs)) / ms;
		},
		close,
	};
}

function start(program, ...args) {
	const child = fork(program, args.map(String));
	process.prependListener("exit", () => child.kill("SIGKILL"));
	return child;
}

async function end(child) {
	const ended = once(child, "exit");
	child.kill("SIGKILL");
	await ended;
}
