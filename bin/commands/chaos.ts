import { EXIT_CODES } from "../../src/base/errors.js";
import { FAULTS } from "../../src/operate/chaos/faults.js";
import type { Act, Aim } from "../../src/operate/chaos/plan-chaos.js";
import { printResult, say } from "../console.js";
import { makeNotice } from "./chaos-notice.js";
import { refuse } from "./command-arguments.js";
import { readChaos } from "./read-chaos.js";
import {
	type AskedCommand,
	refuseNameless,
	runCommand,
} from "./run-request.js";

const ABOUT = `Makes faults among this machine's processes of a run, to see that it survives
them, and says what it did and when. Either at a place (--at 2:0 is rank 0 of
round 2, --delay after it is first seen), or by chance (--mtbf: the mean time
between two faults; --kinds: which; --seed: the same chance again), or both.
What is frozen goes on after --freeze (10 s), and at the end in any case. It
ends with the run, after --for, or when all of --at is done. Linux only. Kinds:
${Object.entries(FAULTS)
	.map(([kind, { means }]) => `  ${kind.padEnd(14)} ${means}`)
	.join("\n")}
Exit code: 0, 1 where something of --at was never seen here, 2 where the run is
not on this machine.

  elastic-run chaos notice RUN_ID [--node-id NODE] [--platform aws] [--window T]

tells a node of this machine that its machine will go, as aws, gcp, azure, slurm
or a file (--platform) would, with that platform's time or another (--window).
`;

/** Injects faults into a run, or makes a notice. Returns the exit code. */
export function chaos(args: readonly string[]): Promise<number> {
	const [first, ...others] = args;
	return first === "notice"
		? runCommand("chaos", ABOUT, others, makeNotice)
		: runCommand("chaos", ABOUT, args, makeFaults);
}

async function makeFaults(asked: AskedCommand): Promise<number> {
	const { flags, runId, searcher, isJson } = asked;
	if (runId === undefined) return refuseNameless("chaos");
	const read = readChaos(flags, searcher.clock.wallTime());
	if ("problems" in read) return refuse(read.problems);
	const { runChaos } = await import("../../src/operate/chaos/run-chaos.js");
	const { seededRandom } = await import("../../src/operate/seeded-random.js");
	const { plan, forMs, seed } = read;
	if (plan.meanMs !== null) say(`chaos: --seed ${seed}`);
	const stop = new AbortController();
	const onSignal = () => stop.abort();
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, onSignal);
	const tell = (line: Record<string, unknown>, words: string) => {
		const time = new Date(searcher.clock.wallTime()).toISOString();
		printResult(isJson, { time, ...line }, () => `${time} ${words}\n`);
	};
	const { faults, unmet } = await runChaos(
		{
			...plan,
			...{ runId, forMs },
			random: seededRandom(seed),
			stop: stop.signal,
			onAct: (act) => tell({ ...act }, describeAct(act)),
			onMissed: (aim) =>
				tell({ missed: aim }, `${describeAim(aim)}: gone before it was due`),
		},
		searcher,
	);
	for (const aim of unmet)
		tell({ unmet: aim }, `${describeAim(aim)}: never here`);
	say(`chaos: ${faults === 1 ? "1 fault" : `${faults} faults`}`);
	return unmet.length === 0 ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

function describeAct({ kind, signal, pid, nodeId, round, rank }: Act): string {
	return `${kind} (${signal} to pid ${pid}): rank ${rank} of round ${round}, ${nodeId}`;
}

function describeAim({ kind, round, rank }: Aim): string {
	return `${kind} of rank ${rank} in round ${round}`;
}
