import { parseArgs } from "node:util";
import { addWords } from "../../src/agent/add-words.js";
import { settingsFromEnvironment } from "../../src/agent/configuration/environment.js";
import { type Host, systemHost } from "../../src/agent/configuration/host.js";
import { OPTIONS } from "../../src/agent/configuration/options.js";
import { loginFromEnvironment } from "../../src/agent/configuration/resolve-credentials.js";
import { resolveStore } from "../../src/agent/configuration/resolve-store.js";
import {
	EMPTY_VALUE,
	mergeSettings,
	SettingReader,
	type Settings,
} from "../../src/agent/configuration/settings.js";
import type { Finding } from "../../src/agent/doctor/finding.js";
import { systemClock } from "../../src/clock.js";
import { EXIT_CODES } from "../../src/errors.js";
import { print, say } from "../console.js";
import { flagProblem } from "./flag-problem.js";

const USAGE = `Usage: elastic-run doctor [--nproc-per-node N|auto|cpu|gpu] [--output text|json]
                          [--rdzv-endpoint HOST:PORT,…] [--rdzv-conf K=V,…] [--run-id ID]

Looks at what this machine lacks for running workers, and says how to mend it; with an
endpoint (or ELASTIC_RUN_RDZV_ENDPOINT) at etcd as well: whether it can be read, and written
below /elastic-run/, or below the run's keys where one is named.
Exit code: 0 without a problem (warnings do not count), else 1.
`;

/** What may be asked, each by its flag; of those that concern the store also by its variable. */
const FLAGS = ["output", "nprocPerNode"] as const;
const STORE_SETTINGS = ["rdzvEndpoint", "rdzvConf", "runId"] as const;
const KEYS = [...FLAGS, ...STORE_SETTINGS];

/** Says line by line what is well on this machine and what is not. Returns the exit code. */
export async function doctor(args: readonly string[]): Promise<number> {
	const host = systemHost({ ...process.env });
	const asked = await parse(args, host);
	if (asked === "help") {
		print(USAGE);
		return EXIT_CODES.succeeded;
	}
	if ("refusals" in asked) {
		for (const refusal of asked.refusals) say(refusal);
		return EXIT_CODES.usage;
	}
	const { examineMachine } = await import(
		"../../src/agent/doctor/examine-machine.js"
	);
	const { workers, store, output } = asked;
	const findings = await examineMachine(host, systemClock, workers, store);
	const isFit = findings.every(({ status }) => status !== "problem");
	print(
		output === "json"
			? `${JSON.stringify({ ok: isFit, checks: findings })}\n`
			: findings.map(inWords).join(""),
	);
	return isFit ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

function inWords({ check, status, message, fix }: Finding): string {
	const words = fix === undefined ? message : addWords(message, fix);
	return `${status.padEnd(7)}  ${check}: ${words}\n`;
}

async function parse(args: readonly string[], host: Host) {
	try {
		const flags = readFlags(args);
		return flags === "help" ? flags : await resolve(flags, host);
	} catch (error) {
		const names = KEYS.map((key) => OPTIONS[key].name);
		return { refusals: [`doctor: ${flagProblem(error, names)} (see --help)`] };
	}
}

function readFlags(args: readonly string[]): Settings | "help" {
	const { values } = parseArgs({
		args: [...args],
		options: {
			...Object.fromEntries(
				KEYS.map((key) => [OPTIONS[key].name, { type: "string" } as const]),
			),
			help: { type: "boolean", short: "h" },
		},
	});
	if ("help" in values) return "help";
	return new Map(
		KEYS.flatMap((key) => {
			const { name } = OPTIONS[key];
			const text = Object.entries(values).find(([flag]) => flag === name)?.[1];
			if (typeof text !== "string") return [];
			return [[key, { text, place: `--${name}`, origin: "flag" }]];
		}),
	);
}

async function resolve(flags: Settings, host: Host) {
	const variables = settingsFromEnvironment(host.environment).settings;
	const ofStore = [...variables].filter(([key]) =>
		STORE_SETTINGS.some((name) => name === key),
	);
	// One that concerns the store would else not be looked at without an endpoint.
	const refusals = [...flags.values()]
		.filter(({ text }) => text === "")
		.map(({ place }) => `${place}: ${EMPTY_VALUE}`);
	if (refusals.length > 0) return { refusals };
	const reader = new SettingReader(
		mergeSettings([flags, new Map(ofStore)]),
		(words) => refusals.push(words),
		({ name }) => `--${name}`,
	);
	const isNamed = reader.textOf(OPTIONS.rdzvEndpoint) !== undefined;
	const login = loginFromEnvironment(host.environment);
	const context = { cwd: host.cwd, login, maxNodes: 1 };
	const store = isNamed
		? await resolveStore(reader, context, (words) => say(`warning: ${words}`))
		: undefined;
	const asked = {
		output: reader.value(OPTIONS.output),
		workers: reader.given(OPTIONS.nprocPerNode) ?? ("auto" as const),
		store: store && { store, runId: reader.given(OPTIONS.runId) },
	};
	return refusals.length > 0 ? { refusals } : asked;
}
