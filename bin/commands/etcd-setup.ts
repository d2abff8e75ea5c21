import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import {
	EXIT_CODES,
	messageOf,
	systemErrorCode,
} from "../../src/base/errors.js";
import { parseName } from "../../src/config/parse/scalars.js";
import { printResult } from "../console.js";
import { refuse } from "./command-arguments.js";
import {
	type AskedCommand,
	refuseNameless,
	runCommand,
} from "./run-request.js";

const ABOUT = `Prints the etcdctl commands that make a user and a role for one run: the user
can write the run's keys and little else. --apply: carries them out, as the user
of --rdzv-conf username=…,password_file=…, and may be repeated.
--user: the name of the user; by default elastic-run-RUN_ID.
--password-file: the new user's password; with --apply it is needed. A file that
is not there is made, with a random password, readable by you alone.
etcd's authentication is neither turned on nor off.
Exit code: 0; 4 where etcd does not answer or refuses.
`;

const PASSWORD_BYTES = 24;
const AUTHENTICATION_OFF =
	"etcd's authentication is off: everybody may still write all keys, until somebody makes a user root and runs etcdctl auth enable";

/** Makes, or shows how to make, a user of etcd for one run. Returns the exit code. */
export function etcdSetup(args: readonly string[]): Promise<number> {
	return runCommand("etcd-setup", ABOUT, args, setUp);
}

async function setUp(asked: AskedCommand): Promise<number> {
	const { runId, flags, places, isJson } = asked;
	if (runId === undefined) return refuseNameless("etcd-setup");
	const { store } = places;
	if (store === undefined) {
		return refuse(["etcd-setup: a run without etcd needs no user of etcd"]);
	}
	const name = flags.get("user")?.text;
	const parsed = name === undefined ? undefined : parseName(name);
	if (parsed !== undefined && "problems" in parsed) {
		return refuse(parsed.problems.map((words) => `--user: ${words}`));
	}
	const { planSetup, setupCommands } = await import(
		"../../src/operate/etcd-setup/plan-setup.js"
	);
	const setup = planSetup(runId, name);
	if (!flags.has("apply")) {
		const commands = setupCommands(setup, store.endpoints);
		printResult(isJson, { version: 1, ...setup, commands }, () =>
			commands.map((line) => `${line}\n`).join(""),
		);
		return EXIT_CODES.succeeded;
	}
	const file = flags.get("password-file")?.text;
	if (file === undefined) {
		return refuse([
			"etcd-setup: --apply needs --password-file FILE for the new user's password; a file that is not there is made",
		]);
	}
	const password = passwordIn(file);
	if ("problem" in password) return refuse([password.problem]);
	const { applySetup } = await import(
		"../../src/operate/etcd-setup/apply-setup.js"
	);
	const steps = await applySetup(setup, password.value, store);
	// It has done without a login what only root may do.
	const isOpen = store.credentials.login === undefined;
	printResult(isJson, { version: 1, ...setup, steps, isOpen }, () =>
		[
			...steps.map(
				({ what, isNew }) => `${what}: ${isNew ? "made" : "was there"}`,
			),
			`use it with --rdzv-conf username=${setup.user},password_file=${file}`,
			...(isOpen ? [AUTHENTICATION_OFF] : []),
		]
			.map((line) => `${line}\n`)
			.join(""),
	);
	return EXIT_CODES.succeeded;
}

function passwordIn(
	file: string,
): { readonly value: string } | { readonly problem: string } {
	try {
		// Editors end a file with a line break.
		const value = readFileSync(file, "utf8").replace(/\r?\n$/, "");
		return value === ""
			? { problem: `--password-file ${file}: is empty` }
			: { value };
	} catch (error) {
		if (systemErrorCode(error) !== "ENOENT") {
			return { problem: `--password-file ${file}: ${messageOf(error)}` };
		}
	}
	const value = randomBytes(PASSWORD_BYTES).toString("base64url");
	try {
		writeFileSync(file, `${value}\n`, { mode: 0o600, flag: "wx" });
		return { value };
	} catch (error) {
		return { problem: `--password-file ${file}: ${messageOf(error)}` };
	}
}
