import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { accessProblem, FILE_PROBLEMS } from "../base/access-problem.js";
import { messageOf, systemErrorCode } from "../base/errors.js";
import {
	HardRestartPolicyStrategy,
	type RestartPolicy,
	type RestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../policies/index.js";
import type { PolicyChoice } from "./parse/restarts.js";
import { ok, type Parsed, problem } from "./parse/scalars.js";

/** Loads the chosen policy. Importing a user's module runs its code. */
export async function loadPolicy(
	choice: PolicyChoice,
	cwd: string,
): Promise<Parsed<RestartPolicyStrategy>> {
	if ("file" in choice) return importPolicy(choice.file, cwd);
	return ok(BUILT_IN[choice.name]);
}

const BUILT_IN: Readonly<Record<RestartPolicy, RestartPolicyStrategy>> = {
	hard: new HardRestartPolicyStrategy(),
	soft: new SoftRestartPolicyStrategy(),
	"soft-replace": new SoftReplaceRestartPolicyStrategy(),
};

const DIGEST_DIGITS = 16;

/** `sha256:…` of a policy file. Agents of one run must have the same content, at any path. */
export async function policyDigest(file: string, cwd: string): Promise<string> {
	const hash = createHash("sha256").update(await readFile(resolve(cwd, file)));
	return `sha256:${hash.digest("hex").slice(0, DIGEST_DIGITS)}`;
}

async function importPolicy(
	file: string,
	cwd: string,
): Promise<Parsed<RestartPolicyStrategy>> {
	const path = resolve(cwd, file);
	const unreadable = await accessProblem(path, constants.R_OK);
	if (unreadable !== undefined) {
		return problem(`${file}: ${FILE_PROBLEMS[unreadable]}`);
	}
	try {
		const module = await importFile(path, cwd);
		return asPolicy(
			instantiate(defaultExport(module)),
			`the default export of ${file}`,
		);
	} catch (error) {
		return problem(`${file}: ${importProblem(error, path)}`);
	}
}

/** TypeScript is read by the project's own tsx, else by Node itself. */
async function importFile(path: string, cwd: string): Promise<unknown> {
	const tsx = TYPESCRIPT.test(path) ? findTsx(path, cwd) : undefined;
	if (tsx === undefined) return import(pathToFileURL(path).href);
	return tsx.require(path, path);
}

const TYPESCRIPT = /\.[cm]?ts$/;

/** `tsx/cjs/api`: unlike its ES twin it starts no thread, and CommonJS finds it from another folder. */
interface Tsx {
	require(path: string, from: string): unknown;
}

/** Undefined if the project has none. */
function findTsx(path: string, cwd: string): Tsx | undefined {
	for (const directory of [dirname(path), cwd]) {
		const load = createRequire(join(directory, "noop.js"));
		try {
			return load("tsx/cjs/api");
		} catch {
			// Not installed for this directory.
		}
	}
	return undefined;
}

/** The value as a policy, or what it lacks. `what` names it in the message. */
export function asPolicy(
	value: unknown,
	what: string,
): Parsed<RestartPolicyStrategy> {
	if (isPolicy(value)) return ok(value);
	const lacks = missingMembers(value).join(", ");
	return problem(
		`${what} is no restart policy: it lacks ${lacks}; export an object, or a class, with name, onScaleUp, onScaleDown and onWorkerFailure`,
	);
}

function isPolicy(value: unknown): value is RestartPolicyStrategy {
	return missingMembers(value).length === 0;
}

const METHODS = ["onScaleUp", "onScaleDown", "onWorkerFailure"];

function missingMembers(value: unknown): string[] {
	const member = (name: string): unknown =>
		typeof value === "object" && value !== null
			? Reflect.get(value, name)
			: undefined;
	const name = member("name");
	return [
		...(typeof name === "string" && name !== "" ? [] : ["name (a text)"]),
		...METHODS.filter((method) => typeof member(method) !== "function"),
	];
}

/** Compilers to CommonJS wrap a default export once more. */
function defaultExport(module: unknown): unknown {
	const inner = memberDefault(module);
	return memberDefault(inner) ?? inner;
}

function memberDefault(value: unknown): unknown {
	return typeof value === "object" && value !== null && "default" in value
		? value.default
		: undefined;
}

function instantiate(value: unknown): unknown {
	return typeof value === "function" ? Reflect.construct(value, []) : value;
}

function importProblem(error: unknown, path: string): string {
	const isUnknown = systemErrorCode(error) === "ERR_UNKNOWN_FILE_EXTENSION";
	if (isUnknown && TYPESCRIPT.test(path)) {
		return `it needs the package tsx on Node ${process.versions.node}: npm install --save-dev tsx (Node >= 22.18 reads it directly)`;
	}
	// A compiler says in its second line what is wrong.
	const [first = "", second = ""] = messageOf(error).split("\n");
	const words = first.endsWith(":") ? `${first} ${second}` : first;
	return `cannot be loaded: ${words}`;
}
