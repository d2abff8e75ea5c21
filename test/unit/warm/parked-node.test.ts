import { ChildProcess } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findSetpriv } from "../../../src/processes/setpriv.js";
import {
	isForNode,
	ParkedProcess,
	parkingProblem,
} from "../../../src/warm/parked-node.js";
import { stdioPipe } from "../../../src/warm/waiting-process.js";
import { temporaryFolder, waitFor } from "../../helpers/processes.js";

const HOOK = "/lib/hook.js";
const SCRIPT = ["--require", HOOK, "--import", "file:///find.js", "train.js"];
const ITSELF = "the command starts Node itself: give elastic-run the script";

it.for<readonly [readonly string[], string | undefined, string | undefined]>([
	[["--import", "file:///tsx.js", "--require", HOOK, "a"], "", undefined],
	[["--import", "elastic-run/register", "train.js"], undefined, ITSELF],
	[["--require", "./first.js", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["--inspect", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["train.js", HOOK], undefined, ITSELF],
	[SCRIPT, "--max_old_space_size 4096 -C dev", undefined],
	[SCRIPT, "--inspect=9229", "NODE_OPTIONS has --inspect"],
	[SCRIPT, '--no-warnings --require "./a b.js"', "NODE_OPTIONS has --require"],
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

it("has no pipe at the limit of open files: that is an error, and the child's own error ends nothing", () => {
	const child = new ChildProcess();
	expect(() => stdioPipe(child, 3)).toThrow("too many open files");
	expect(child.emit("error", new Error("spawn EMFILE"))).toBe(true);
});

it.skipIf(process.platform !== "linux")(
	"becomes no worker whose working directory is another one of the same name, nor after a signal has stopped or ended it",
	async () => {
		const folder = temporaryFolder();
		onTestFinished(folder.remove);
		const cwd = join(folder.path, "job");
		mkdirSync(cwd);
		const PATH = process.env.PATH ?? "";
		const spec = {
			...{ localRank: 0, file: "/bin/sleep", args: ["600"], cwd },
			...{ env: { PATH }, stdout: 1, stderr: 2 },
		};
		const setpriv = (await findSetpriv(PATH)) ?? "";
		const parked = new ParkedProcess(spec, spec, "/hook", setpriv);
		onTestFinished(() => parked.close());
		writeFileSync(join(cwd, "train.js"), "");
		expect(parked.differenceFrom(spec)).toBeUndefined();
		renameSync(cwd, `${cwd}.old`);
		mkdirSync(cwd);
		expect(parked.differenceFrom(spec)).toBe(
			"the working directory is another one",
		);
		const problem = () => parked.problem?.reason;
		expect(problem()).toBeUndefined();
		process.kill(parked.pid, "SIGSTOP");
		await waitFor("its stop", () => problem()?.includes("stopped") === true);
		parked.close();
		await waitFor("its end", () => problem()?.includes("ended") === true);
	},
);
