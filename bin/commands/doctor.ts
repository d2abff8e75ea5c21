import { systemClock } from "../../src/base/clock.js";
import {
	addWords,
	ElasticRunError,
	EXIT_CODES,
} from "../../src/base/errors.js";
import {
	type Host,
	loginFromEnvironment,
	mergeSettings,
	OPTIONS,
	resolveStore,
	SettingReader,
	type Settings,
	settingsFromEnvironment,
} from "../../src/config/index.js";
import { examineMachine, type Finding } from "../../src/operate/index.js";
import { CliCommand } from "../command.js";
import { printResult, say } from "../console.js";
import { ownHost } from "../own-host.js";

const ABOUT = `Looks at what this machine lacks for running workers, and says how to mend it;
with an endpoint (or ELASTIC_RUN_RDZV_ENDPOINT) at etcd as well: whether it can
be read, and written below /elastic-run/, or below the run's keys where one is
named.
Exit code: 0 without a problem (warnings do not count), else 1.`;

/** The settings that may also be given by variable. */
const STORE_SETTINGS = ["rdzvEndpoint", "rdzvConf", "runId"];

const { nprocPerNode, rdzvEndpoint, rdzvConf, runId, output } = OPTIONS;

export const command = new CliCommand("doctor", "", ABOUT)
	.takes(nprocPerNode, rdzvEndpoint, rdzvConf, runId, output)
	.does(async ({ given }) => {
		const host = ownHost();
		const asked = await resolve(given, host);
		const findings = await examineMachine(
			host,
			systemClock,
			asked.workers,
			asked.store,
		);
		const isFit = findings.every(({ status }) => status !== "problem");
		printResult(asked.output === "json", { ok: isFit, checks: findings }, () =>
			findings.map(inWords).join(""),
		);
		return isFit ? EXIT_CODES.succeeded : EXIT_CODES.failed;
	});

function inWords({ check, status, message, fix }: Finding): string {
	const words = fix === undefined ? message : addWords(message, fix);
	return `${status.padEnd(7)}  ${check}: ${words}\n`;
}

async function resolve(flags: Settings, host: Host) {
	const variables = settingsFromEnvironment(host.environment).settings;
	const ofStore = [...variables].filter(([key]) =>
		STORE_SETTINGS.includes(key),
	);
	const problems: string[] = [];
	const reader = new SettingReader(
		mergeSettings([flags, new Map(ofStore)]),
		(words) => problems.push(words),
		({ name }) => `--${name}`,
	);
	const isNamed = reader.textOf(rdzvEndpoint) !== undefined;
	const login = loginFromEnvironment(host.environment);
	const context = { cwd: host.cwd, login, maxNodes: 1 };
	const store = isNamed
		? await resolveStore(reader, context, (words) => say(`warning: ${words}`))
		: undefined;
	const asked = {
		output: reader.value(output),
		workers: reader.given(nprocPerNode) ?? ("auto" as const),
		store: store && { store, runId: reader.given(runId) },
	};
	if (problems.length > 0) {
		throw new ElasticRunError("USAGE", problems.join("\n"));
	}
	return asked;
}
