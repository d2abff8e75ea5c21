import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { packageFile } from "../../../src/base/package-files.js";
import { loadPolicy } from "../../../src/config/policy-file.js";
import {
	type CommandRequest,
	resolveCommand,
} from "../../../src/config/resolve-command.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { outcome } from "./outcome.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const at = (...names: string[]) => join(folder.path, ...names);

function write(path: string, content = "", mode = 0o644): string {
	writeFileSync(path, content);
	chmodSync(path, mode);
	return path;
}

for (const name of [
	"a.js",
	"a.mjs",
	"a.cjs",
	"a.ts",
	"a.py",
	"-dash.py",
	"run.sh",
]) {
	write(at(name));
}
for (const name of ["pipe", "pipe.py"]) {
	execFileSync("mkfifo", ["-m", "0755", at(name)]);
}
mkdirSync(at("path"));
mkdirSync(at("node_modules/elastic-run"), { recursive: true });
write(at("node_modules/elastic-run/package.json"), "{}");
mkdirSync(at("sub", "node_modules", "tsx"), { recursive: true });
const python = write(at("path", "python3"), "#!/bin/sh\n", 0o755);
const tool = write(at("path", "tool"), "#!/bin/sh\n", 0o755);
const script = write(at("tool.js"), "#!/usr/bin/env node\n", 0o755);
write(at("path", "text"));
write(at("sub", "b.ts"));
const tsx = write(at("sub", "node_modules", "tsx", "loader.mjs"));
write(
	at("sub", "node_modules", "tsx", "package.json"),
	'{ "exports": { ".": "./loader.mjs" } }',
);

const request: CommandRequest = {
	script: "a.js",
	args: ["--help"],
	cwd: folder.path,
	environment: { PATH: at("path") },
	asItIs: false,
	isModule: false,
	hasHook: false,
	node: { file: "/opt/node", version: "20.19.0", runsTypeScript: false },
};
const typed = { ...request.node, runsTypeScript: true };

describe("a command", () => {
	test.each<[string, Partial<CommandRequest>, string, string[]]>([
		["a.js", {}, "/opt/node", ["a.js"]],
		["a.cjs", {}, "/opt/node", ["a.cjs"]],
		["a.ts", { node: typed }, "/opt/node", ["a.ts"]],
		[
			"../a.ts",
			{ cwd: at("sub") },
			"/opt/node",
			["--import", pathToFileURL(tsx).href, "../a.ts"],
		],
		["a.py", {}, python, ["-u", "a.py"]],
		["a.py", { environment: { PYTHON_EXEC: tool } }, tool, ["-u", "a.py"]],
		["-dash.py", {}, python, ["-u", "./-dash.py"]],
		["tool", {}, tool, []],
		["./tool.js", { asItIs: true }, script, []],
	])("%s %j", async (name, change, file, args) => {
		const command = await resolveCommand({
			...request,
			...change,
			script: name,
		});
		expect(command).toEqual({
			file,
			args: [...args, "--help"],
			cwd: change.cwd ?? folder.path,
			display: name,
			typed: expect.arrayContaining([name]),
		});
	});

	test("of a script whose project has no elastic-run finds the launcher's", async () => {
		const { path: cwd, remove } = temporaryFolder();
		onTestFinished(remove);
		const script = write(join(cwd, "a.mjs"));
		for (const place of [{ cwd }, {}]) {
			const command = await resolveCommand({ ...request, ...place, script });
			const finder = packageFile("dist/src/runtime/find-package.js");
			expect(command).toMatchObject({
				args: ["--import", pathToFileURL(finder).href, script, "--help"],
			});
		}
	});

	test("loads the hook in scripts that the launcher runs under Node, and in no others", async () => {
		const argsOf = async (change: Partial<CommandRequest>) => {
			const asked = { ...request, hasHook: true, ...change };
			const command = await resolveCommand(asked);
			return "args" in command ? command.args : command.message;
		};
		const hook = packageFile("dist/cjs/runtime/hook.js");
		expect(await argsOf({})).toEqual(["--require", hook, "a.js", "--help"]);
		expect(await argsOf({ hasHook: false })).toEqual(["a.js", "--help"]);
		const asItIs = { script: "./tool.js", asItIs: true };
		expect(await argsOf(asItIs)).toEqual(["--help"]);
		expect(await argsOf({ script: "tool" })).toEqual(["--help"]);
	});

	test.each<[string, Partial<CommandRequest>, string, RegExp]>([
		["b.js", {}, "COMMAND_NOT_FOUND", /^script "b.js" not found \(looked in /],
		[
			"a.ts",
			{},
			"USAGE",
			/^a.ts needs the package tsx on Node 20.19.0: npm install/,
		],
		[
			"a.py",
			{ environment: { PATH: at("sub") } },
			"COMMAND_NOT_FOUND",
			/^a.py needs python3, which is not on PATH/,
		],
		[
			"a.py",
			{ environment: { PYTHON_EXEC: "/nosuch" } },
			"COMMAND_NOT_FOUND",
			/^environment PYTHON_EXEC: command "\/nosuch" not found/,
		],
		["text", {}, "COMMAND_NOT_EXECUTABLE", /path\/text" is not executable/],
		[
			"tool.js",
			{ asItIs: true },
			"COMMAND_NOT_FOUND",
			/not found on PATH; a file of this name is in .*: use \.\/tool.js$/,
		],
		[
			"./run.sh",
			{},
			"COMMAND_NOT_EXECUTABLE",
			/^".\/run.sh" is not executable; use chmod/,
		],
		["sub", {}, "USAGE", /^"sub" is a directory/],
		["pipe.py", {}, "USAGE", /^"pipe.py" is a pipe, a socket or a device/],
		["a.js/x", {}, "COMMAND_NOT_FOUND", /^command "a.js\/x" not found/],
		[
			"tool",
			{ cwd: at("a.js") },
			"USAGE",
			/^working directory .* is not there/,
		],
	])("not %s %j", async (name, change, code, message) => {
		const problem = await resolveCommand({
			...request,
			...change,
			script: name,
		});
		expect(problem).toEqual({ code, message: expect.stringMatching(message) });
	});
});

describe("a policy module", () => {
	const members =
		'name: "mine", onScaleUp() {}, onScaleDown() {}, onWorkerFailure() {}';
	const load = async (name: string, content: string) => {
		write(at(name), content);
		return outcome(await loadPolicy({ file: name }, folder.path));
	};

	test.each([
		["object.mjs", `export default { ${members} };`],
		[
			"class.mjs",
			'export default class { name = "mine"; onScaleUp() {} onScaleDown() {} onWorkerFailure() {} }',
		],
		[
			"compiled.cjs",
			`exports.__esModule = true; exports.default = { ${members} };`,
		],
	])("%s", async (name, content) => {
		expect(await load(name, content)).toMatchObject({ name: "mine" });
	});

	test.each([
		[
			"empty.mjs",
			"",
			/it lacks name \(a text\), onScaleUp, onScaleDown, onWorkerFailure;/,
		],
		[
			"named.mjs",
			`export const policy = { ${members} };`,
			/^the default export of named.mjs is no restart policy/,
		],
		[
			"throwing.mjs",
			"export default class { constructor() { throw new Error('no'); } }",
			/^throwing.mjs: cannot be loaded: no$/,
		],
		[
			"uncompiled.mjs",
			"throw new Error('Transform failed with 1 error:\\nx.ts:1:9: ERROR: Unexpected end');",
			/^uncompiled.mjs: cannot be loaded: .*: x.ts:1:9: ERROR: Unexpected end$/,
		],
		[
			"importing.mjs",
			'import "nosuch-package";',
			/^importing.mjs: cannot be loaded: .*nosuch-package/,
		],
	])("not %s", async (name, content, words) => {
		expect(await load(name, content)).toMatch(words);
	});

	test("that is not there", async () => {
		const policy = await loadPolicy({ file: "./nosuch.mjs" }, folder.path);
		expect(outcome(policy)).toBe("./nosuch.mjs: no such file; check the path");
	});
});
