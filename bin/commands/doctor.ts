import { parseArgs } from "node:util";
import { systemHost } from "../../src/agent/configuration/host.js";
import { LOG_OPTIONS } from "../../src/agent/configuration/options/logs.js";
import { WORKER_OPTIONS } from "../../src/agent/configuration/options/workers.js";
import type { Finding } from "../../src/agent/doctor/finding.js";
import { systemClock } from "../../src/clock.js";
import { EXIT_CODES, messageOf } from "../../src/errors.js";
import { say } from "../console.js";

const USAGE = `Usage: elastic-run doctor [--nproc-per-node N|auto|cpu|gpu] [--output text|json]

Looks at what this machine lacks for running workers, and says how to mend it.
Exit code: 0 without a problem (warnings do not count), else 1.
`;

/** Says line by line what is well on this machine and what is not. Returns the exit code. */
export async function doctor(args: readonly string[]): Promise<number> {
	const asked = parse(args);
	if (asked === "help") {
		process.stdout.write(USAGE);
		return EXIT_CODES.succeeded;
	}
	if ("refusals" in asked) {
		for (const refusal of asked.refusals) say(refusal);
		return EXIT_CODES.usage;
	}
	const { examineMachine } = await import(
		"../../src/agent/doctor/examine-machine.js"
	);
	const findings = await examineMachine(
		systemHost(process.env),
		systemClock,
		asked.workers,
	);
	const isFit = findings.every(({ status }) => status !== "problem");
	process.stdout.write(
		asked.output === "json"
			? `${JSON.stringify({ ok: isFit, checks: findings })}\n`
			: findings.map(inWords).join(""),
	);
	return isFit ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

function inWords({ check, status, message, fix }: Finding): string {
	const remedy = fix === undefined ? "" : `; ${fix}`;
	return `${status.padEnd(7)}  ${check}: ${message}${remedy}\n`;
}

function parse(args: readonly string[]) {
	try {
		const { values } = parseArgs({
			args: [...args],
			options: {
				output: { type: "string", default: "text" },
				"nproc-per-node": { type: "string", default: "auto" },
				help: { type: "boolean", short: "h", default: false },
			},
		});
		if (values.help) return "help";
		const output = LOG_OPTIONS.output.parse(values.output);
		const workers = WORKER_OPTIONS.nprocPerNode.parse(values["nproc-per-node"]);
		if ("value" in output && "value" in workers) {
			return { output: output.value, workers: workers.value };
		}
		return {
			refusals: [
				...refusals("--output", output),
				...refusals("--nproc-per-node", workers),
			],
		};
	} catch (error) {
		return { refusals: [`doctor: ${messageOf(error)} (see --help)`] };
	}
}

function refusals(
	flag: string,
	parsed:
		| { readonly problems: readonly string[] }
		| { readonly value: unknown },
): readonly string[] {
	return "problems" in parsed
		? parsed.problems.map((words) => `${flag}: ${words}`)
		: [];
}
