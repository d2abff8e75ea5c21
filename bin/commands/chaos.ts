import { EXIT_CODES } from "../../src/base/errors.js";
import { formatDuration } from "../../src/base/units.js";
import {
	OPTIONS,
	ok,
	oneOf,
	optionsOf,
	type Parsed,
	parseSomeTime,
	problem,
	quote,
} from "../../src/config/index.js";
import {
	type Aim,
	FAULT_KINDS,
	makeFaults,
	makeNotice,
} from "../../src/operate/index.js";
import { refusal } from "../command.js";
import { printResult, say } from "../console.js";
import { type AskedCommand, namedRun, RunCommand } from "../run-command.js";

const AIM = /^(\d+):(\d+)(?::(.+))?$/;
const ABOUT = `Sends signals to this machine's processes of a run, to test that it survives
them, and prints what it did and when: --at 2:0:KIND, as soon as rank 0 of round
2 is there. KIND: kill-worker (the default), stop-worker, kill-agent (its
launcher, as a machine that dies), stop-agent (as a machine that is preempted).
It ends with the run, or when all of --at is done. Linux only.
Exit code: 0, 1 where something of --at was never seen here, 2 where the run is
not on this machine.

  elastic-run chaos notice RUN_ID [--node-id NODE] [--platform aws] [--window T]

tells a node of this machine that its machine will go, as aws, gcp, azure, slurm
or a file (--platform) would, with that platform's time or another (--window).`;

const FLAGS = optionsOf("Command", {
	at: {
		argument: "ROUND:RANK[:KIND],…",
		help: "the faults",
		parse: parseAims,
	},
	platform: {
		argument: "NAME",
		defaultText: "aws",
		help: "who gives the notice",
		parse: oneOf("aws", "gcp", "azure", "slurm", "file"),
	},
	window: {
		argument: "TIME",
		help: "the time from the notice until the machine goes",
		parse: parseSomeTime,
	},
});

export const command = new RunCommand("chaos", "[notice] RUN_ID", ABOUT)
	.owns(FLAGS)
	.takes(OPTIONS.nodeId)
	.onLocalRun(faults, new Map([["notice", notice]]));

async function faults(asked: AskedCommand): Promise<number> {
	const { word, flags, searcher, isJson } = asked;
	const runId = namedRun(asked);
	const aims = flags.given(FLAGS.at);
	if (aims === undefined) {
		throw refusal(word, "say what is to happen: --at ROUND:RANK[:KIND]");
	}
	const stop = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"]) {
		process.once(signal, () => stop.abort());
	}
	let made = 0;
	const report = (line: Record<string, unknown>, words: string) => {
		const time = new Date(searcher.clock.wallTime()).toISOString();
		printResult(isJson, { time, ...line }, () => `${time} ${words}\n`);
	};
	const unmet = await makeFaults(
		{
			runId,
			aims,
			stop: stop.signal,
			onFault: (fault) => {
				const { kind, signal, pid, nodeId, round, rank } = fault;
				made += 1;
				report(
					{ ...fault },
					`${kind} (${signal} to pid ${pid}): rank ${rank} of round ${round}, ${nodeId}`,
				);
			},
		},
		searcher,
	);
	for (const aim of unmet) {
		const { kind, round, rank } = aim;
		report(
			{ unmet: aim },
			`${kind} of rank ${rank} in round ${round}: never here`,
		);
	}
	say(`chaos: ${made === 1 ? "1 fault" : `${made} faults`}`);
	return unmet.length === 0 ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

/** Gives a node a notice that its machine will go. */
async function notice(asked: AskedCommand): Promise<number> {
	const { flags, named, searcher, isJson } = asked;
	const made = makeNotice(
		{
			runId: namedRun(asked),
			nodeId: named.nodeId,
			platform: flags.value(FLAGS.platform),
			windowMs: flags.given(FLAGS.window),
		},
		searcher,
	);
	const { deadline, reason } = made;
	const when =
		deadline === null
			? "it is not said when"
			: `in ${formatDuration(deadline - searcher.clock.wallTime())}`;
	printResult(
		isJson,
		made,
		() =>
			`notice for ${made.nodeId} of run ${made.runId}: ${reason}, ${when}\n`,
	);
	return EXIT_CODES.succeeded;
}

/** `ROUND:RANK[:KIND]`, separated by commas. */
function parseAims(text: string): Parsed<readonly Aim[]> {
	const aims: Aim[] = [];
	for (const one of text.split(",")) {
		const [, round, rank, kind = "kill-worker"] = AIM.exec(one) ?? [];
		if (round === undefined) {
			return problem(
				`${quote(one)} is not ROUND:RANK[:KIND], for example 2:0 or 3:5:stop-worker`,
			);
		}
		const named = oneOf(...FAULT_KINDS)(kind);
		if ("problems" in named) return named;
		aims.push({
			round: Number(round),
			rank: Number(rank),
			kind: named.value,
		});
	}
	return ok(aims);
}
