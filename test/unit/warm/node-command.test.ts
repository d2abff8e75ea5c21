import { expect, it } from "vitest";
import { isForNode, parkingProblem } from "../../../src/warm/node-command.js";

const HOOK = "/lib/hook.js";
const SCRIPT = ["--require", HOOK, "--import", "file:///find.js", "train.js"];
const TYPESCRIPT = ["--import", "file:///tsx.js", "--require", HOOK, "a.ts"];
const ITSELF = "the command starts Node itself: give elastic-run the script";

it.for<readonly [readonly string[], string | undefined, string | undefined]>([
	[SCRIPT, undefined, undefined],
	[TYPESCRIPT, undefined, undefined],
	[["--import", "elastic-run/register", "train.js"], undefined, ITSELF],
	[["--require", "./first.js", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["--inspect", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["--import", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["train.js", HOOK], undefined, ITSELF],
	[SCRIPT, "--max-old-space-size=4096 --enable-source-maps", undefined],
	[SCRIPT, "--max_old_space_size 4096 -C dev", undefined],
	[SCRIPT, "", undefined],
	[SCRIPT, "--inspect=9229", "NODE_OPTIONS has --inspect"],
	[SCRIPT, '--no-warnings --require "./a b.js"', "NODE_OPTIONS has --require"],
	[SCRIPT, "-r ./a.js", "NODE_OPTIONS has -r"],
	[SCRIPT, "--cpu-prof", "NODE_OPTIONS has --cpu-prof"],
])("says why no process can wait: %o with NODE_OPTIONS=%s", ([
	args,
	options,
	problem,
]) => {
	expect(parkingProblem(args, HOOK, options)).toBe(problem);
});

it("knows which commands run under Node", () => {
	const is = (file: string, ...args: string[]) =>
		isForNode({ file, args }, HOOK);
	expect(is("/opt/node-20/bin/node", ...SCRIPT)).toBe(true);
	expect(is("/usr/bin/node", "train.js")).toBe(true);
	expect(is("/usr/bin/python3", "-u", "train.py")).toBe(false);
	expect(is("/job/node.sh", "train.js")).toBe(false);
});
