import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.js";
import { addWords, EXIT_CODES } from "../../src/base/errors.js";
import { settingsFromEnvironment } from "../../src/config/environment.js";
import { type Host, systemHost } from "../../src/config/host.js";
import { mergeSettings } from "../../src/config/merge-settings.js";
import { OPTIONS } from "../../src/config/options.js";
import { loginFromEnvironment } from "../../src/config/resolve-credentials.js";
import { resolveStore } from "../../src/config/resolve-store.js";
import {
	EMPTY_VALUE,
	SettingReader,
	type Settings,
} from "../../src/config/settings.js";
import type { Finding } from "../../src/operate/doctor/finding.js";
import { print, printResult, say } from "../console.js";
import { takeEnvironment } from "../own-environment.js";
import { flagProblem } from "./flag-problem.js";

const USAGE = `Usage: elastic-run doctor [--nproc-per-node N|auto|cpu|gpu]
                          [--rdzv-endpoint HOST:PORT,…] [--rdzv-conf K=V,…]
                          [--run-id ID] [--output text|json]

Looks at what this machine lacks for running workers, and says how to mend it;
with an endpoint (or ELASTIC_RUN_RDZV_ENDPOINT) at etcd as well: whether it can
be read, and written below /elastic-run/, or below the run's keys where one is
named.
Exit code: 0 without a problem (warnings do not count), else 1.
`;

/** The settings that can be given: by flag, and those of the store also by variable. */
const FLAGS = ["output", "nprocPerNode"] as const;
const STORE_SETTINGS = ["rdzvEndpoint", "rdzvConf", "runId"] as const;
const KEYS = [...FLAGS, ...STORE_SETTINGS];

/** Reports line by line what is right and wrong on this machine. Returns the exit code. */
export async function doctor(args: readonly string[]): Promise<number> {
	const host = systemHost(takeEnvironment());
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
		"../../src/operate/doctor/examine-machine.js"
	);
	const { workers, store, output } = asked;
	const findings = await examineMachine(host, systemClock, workers, store);
	const isFit = findings.every(({ status }) => status !== "problem");
	printResult(output === "json", { ok: isFit, checks: findings }, () =>
		findings.map(inWords).join(""),
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
	// Without this, a setting of the store would not be checked if there is no endpoint.
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
