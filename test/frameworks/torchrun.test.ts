// docs/torchrun.md says all that differs from torchrun: its own parser, sources and workers are asked.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
	FOREIGN_FLAGS,
	settingsFromTorchrun,
} from "../../src/config/environment.js";
import { ALL_OPTIONS, OPTIONS } from "../../src/config/options.js";
import { parseRendezvousConf } from "../../src/config/parse/rendezvous.js";
import { environmentOf, runCli } from "../helpers/cli.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

const FIXTURE = "test/fixtures/frameworks/torchrun.py";

/** What the fixture prints. */
interface Torchrun {
	/** The default of each flag. */
	readonly flags: Readonly<Record<string, string>>;
	/** Of `--rdzv-conf`. */
	readonly keys: readonly string[];
	/** In seconds. */
	readonly times: Readonly<Record<string, number>>;
	/** That its sources name. */
	readonly variables: readonly string[];
	/** The environment of a worker. */
	readonly workers: Readonly<Record<string, string>>;
}

let torchrun: Torchrun;

beforeAll(() => {
	try {
		torchrun = JSON.parse(
			execFileSync(PYTHON, [FIXTURE], { env: environmentOf() }).toString(),
		);
	} catch {
		// Without torch the tests say so.
	}
}, 240_000);

beforeEach((context) => needTorch(context));

/** The names of each row of a section's table, with the row. */
function rowsOf(heading: string): ReadonlyMap<string, string> {
	const page = readFileSync("docs/torchrun.md", "utf8");
	const [, section = ""] = page.split(`\n## ${heading}\n`);
	const [table = ""] = section.split("\n## ");
	const rows = table.split("\n").filter((line) => line.startsWith("| `"));
	return new Map(
		rows.flatMap((row) =>
			[...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(
				([, name = ""]): [string, string] => [name, row],
			),
		),
	);
}

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/** What torchrun writes otherwise; NONE: nothing is set. */
const NONE = "–";
const SAME: Readonly<Record<string, string>> = {
	"1:1": "1",
	False: "0",
	None: NONE,
	"": NONE,
};

/** How a flag's default is written here; undefined: the flag has no meaning. */
function ownDefault(flag: string): string | undefined {
	const option = ALL_OPTIONS.find(({ name, aliases, short }) =>
		[`-${short}`, ...[name, ...aliases].map((one) => `--${one}`)].includes(
			flag,
		),
	);
	if (option === undefined) return undefined;
	return "defaultText" in option ? option.defaultText : NONE;
}

it("B7 each flag and default that differs has its row with both, and no other flag has one", () => {
	const { flags, times } = torchrun;
	const rows = rowsOf("Defaults and flags");
	const differing = Object.entries(flags).filter(
		([flag, text]) =>
			flag.startsWith("--") && ownDefault(flag) !== (SAME[text] ?? text),
	);
	const named = [...rows.keys()].filter((name) => name.startsWith("--"));
	expect(sorted(named.filter((name) => name in flags))).toEqual(
		sorted(differing.map(([flag]) => flag)),
	);
	for (const [flag, theirs] of differing) {
		const own = ownDefault(flag);
		const values = own === undefined ? [] : [theirs, own];
		for (const value of values.filter((one) => one !== NONE)) {
			expect(rows.get(flag)).toContain(`\`${value}\``);
		}
		const { instead } =
			FOREIGN_FLAGS.find(({ name }) => flag === `--${name}`) ?? {};
		if (own !== undefined) continue;
		expect(rows.get(flag)).toContain(instead ? "refused" : "ignored");
	}
	for (const short of ["-m", "-r", "-t"]) {
		expect([short, ownDefault(short)]).not.toContain(undefined);
	}
	for (const [key, seconds] of Object.entries(times)) {
		expect(OPTIONS.rdzvConf.help).toContain(`${key} (${seconds})`);
	}
});

it("each key of --rdzv-conf that is ignored or limited has its row", () => {
	const rows = rowsOf("Defaults and flags");
	const isTaken = (key: string) => {
		const parsed = parseRendezvousConf(`${key}=1`, "test");
		return "value" in parsed && parsed.value.ignored === undefined;
	};
	const keys = torchrun.keys.filter((key) => !isTaken(key));
	expect(keys).toContain("protocol");
	expect(keys.filter((key) => !rows.has(key))).toEqual([]);
	const named = [...rows.keys()].filter((name) =>
		/^[a-z]\w+_timeout$/.test(name),
	);
	expect(named.filter(isTaken)).toEqual([]);
});

it("each variable that is read, or that a worker gets, in one of both alone has its row, and no other has", async () => {
	const print =
		"import json, os; os.environ['RANK'] == '0' and print(json.dumps(dict(os.environ)))";
	const quiet = ["--redirects=0", "--tee=0", "--no-python"];
	const { stdout } = await runCli(
		["--nproc-per-node=2", ...quiet, PYTHON, "-c", print],
		{ cwd: "/" },
	);
	const ours: Readonly<Record<string, string>> = JSON.parse(stdout);
	const names = sorted([...Object.keys(ours), ...Object.keys(torchrun.workers)])
		// A place, a name of this run, or what the shell of one of them says.
		.filter(
			(name) =>
				!/^(?:MASTER_(?:ADDR|PORT)|TORCHELASTIC_(?:RUN_ID|ERROR_FILE)|LC_CTYPE)$/.test(
					name,
				),
		)
		.filter((name) => ours[name] !== torchrun.workers[name])
		.map((name) => name.replace(/^ELASTIC_RUN_.+/, "ELASTIC_RUN_*"));
	const unread = torchrun.variables.filter(
		(name) => !isRead(name) && !(name in torchrun.workers),
	);
	const rows = rowsOf("Variables");
	expect(names).toContain("TORCHELASTIC_USE_AGENT_STORE");
	expect(sorted(rows.keys()).filter((name) => name !== "PET_…")).toEqual(
		sorted([...names, ...unread]),
	);
}, 120_000);

/** Whether the launcher itself reads it, with torchrun's meaning. */
function isRead(variable: string): boolean {
	if (["PYTHON_EXEC", "TORCHELASTIC_ERROR_FILE"].includes(variable))
		return true;
	return settingsFromTorchrun({ [variable]: "1" }).settings.size > 0;
}

it("each flag of torchrun that has a meaning here has its PET_ variable", () => {
	for (const flag of Object.keys(torchrun.flags)) {
		if (!flag.startsWith("--") || ownDefault(flag) === undefined) continue;
		const name = `PET_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
		expect([name, isRead(name)]).toEqual([name, true]);
	}
});
