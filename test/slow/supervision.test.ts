import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import {
	afterEach,
	beforeEach,
	describe,
	expect,
	it,
	onTestFinished,
	test,
} from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { MarkedProcesses } from "../../src/processes/escapees.js";
import { type Guard, startGuard } from "../../src/processes/guard.js";
import { GUARD_SCRIPT } from "../../src/processes/guard-script.js";
import { findSetpriv } from "../../src/processes/setpriv.js";
import type {
	AgentFixture,
	AgentFixtureStarted,
} from "../fixtures/workers/agent.js";
import { bundled } from "../helpers/bundled.js";
import { asProcess1 } from "../helpers/machine.js";
import {
	endProcess,
	isAlive,
	signalProcess,
	temporaryFolder,
	waitFor,
} from "../helpers/processes.js";

const onLinux = process.platform === "linux";
const setpriv = await findSetpriv(process.env.PATH);
const busybox = (process.env.PATH ?? "")
	.split(":")
	.map((bin) => join(bin, "busybox"))
	.find((file) => existsSync(file));

let folder: ReturnType<typeof temporaryFolder>;
let channelRoot: string;
let strays: number[];

beforeEach(() => {
	folder = temporaryFolder();
	channelRoot = join(folder.path, "elastic-run-0", "run.agent");
	mkdirSync(join(folder.path, "outputs"));
	strays = [];
});
afterEach(() => {
	for (const pid of strays) endProcess(pid);
	folder.remove();
});

interface StartedAgent extends AgentFixtureStarted {
	readonly agent: ChildProcess;
	readonly agentPid: number;
	/** The workers, and the children that they named. */
	readonly family: readonly number[];
}

async function startAgent(
	change: Partial<AgentFixture> & { fixture?: string } = {},
): Promise<StartedAgent> {
	const { fixture = "has-escapee.sh", ...rest } = change;
	const outputs = join(folder.path, "outputs");
	const file = resolve("test/fixtures/workers", fixture);
	const settings: AgentFixture = {
		channelRoot,
		outputs,
		file,
		workers: 1,
		...rest,
	};
	const agent = spawn(
		process.execPath,
		[bundled("test/fixtures/workers/agent.ts"), JSON.stringify(settings)],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	if (agent.pid === undefined) throw new Error("the agent did not start");
	strays.push(agent.pid);
	const started = await new Promise<AgentFixtureStarted>((resolve) =>
		createInterface(agent.stdout).once("line", (line) =>
			resolve(JSON.parse(line)),
		),
	);
	const texts = started.workers.map((_, rank) => join(outputs, `${rank}`));
	await waitFor("all workers to be ready", () =>
		texts.every((path) => readFileSync(path, "utf8").includes("ready")),
	);
	const children = texts.flatMap((path) =>
		[...readFileSync(path, "utf8").matchAll(/^\w+ (\d+)$/gm)].map((found) =>
			Number(found[1]),
		),
	);
	const family = [...started.workers, ...children];
	strays.push(...family, started.guard);
	return { ...started, agent, agentPid: agent.pid, family };
}

const allGone = (pids: readonly number[]) =>
	waitFor("all processes to be gone", () => !pids.some(isAlive));

test.runIf(onLinux)(
	"a guard that sees the /proc of another pid namespace ends nobody by it",
	(context) => {
		const [program = "", ...words] = asProcess1(context, "machine");
		// A marked process, and a stranger whose pid here is the one that the marked process has there.
		const script = `
		TEST_MARK=mark sh -c 'read -r pid rest </proc/self/stat; echo $pid >"$1/there"; exec sleep 600' sh "$1" &
		marked=$!
		until [ -s "$1/there" ]; do sleep 0.05; done
		read -r there <"$1/there"
		echo $((there - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 600 &
		[ $! = $there ] || { echo other pid; exit; }
		mark_name=TEST_MARK mark_value=mark root="$1/none" sh -c "$2" guard </dev/null
		kill -0 $there && kill -0 $marked && echo both live`;
		const args = [
			...words,
			"sh",
			"-c",
			script,
			"sh",
			folder.path,
			GUARD_SCRIPT,
		];
		const { stdout } = spawnSync(program, args, { encoding: "utf8" });
		if (stdout === "other pid\n") context.skip("no pid can be chosen here");
		expect(stdout).toBe("both live\n");
	},
);

describe.skipIf(!onLinux)("an agent that ends without a word", () => {
	test.each([
		[2, undefined],
		[16, setpriv],
	])("leaves nothing behind: %i workers, setpriv %s", async (workers, tool) => {
		const started = await startAgent({
			workers,
			...(tool === undefined ? {} : { setpriv: tool }),
		});
		expect(started.family).toHaveLength(workers * 3);
		expect(started.family.filter(isAlive)).toEqual(started.family);
		signalProcess(started.agentPid, "SIGKILL");
		await allGone([...started.family, started.guard]);
		expect(existsSync(channelRoot)).toBe(false);
		expect(readdirSync(join(folder.path, "elastic-run-0"))).toEqual([]);
	});

	test("leaves strangers alone, also those that name another channel", async () => {
		const env = { ...process.env, ELASTIC_RUN_CHANNEL: `${channelRoot}2/0` };
		const stranger = spawn("sleep", ["600"], { env, stdio: "ignore" });
		strays.push(stranger.pid ?? -1);
		const started = await startAgent();
		signalProcess(started.agentPid, "SIGKILL");
		await allGone([...started.family, started.guard]);
		expect(isAlive(stranger.pid ?? -1)).toBe(true);
	});

	const shells: [string, () => Partial<AgentFixture>, string | undefined][] = [
		["dash", () => ({ shell: "/bin/dash" }), missing("/bin/dash")],
		[
			"busybox",
			() => {
				const bin = join(folder.path, "bin");
				mkdirSync(bin);
				for (const tool of ["ash", "grep", "tr", "sleep", "rm"])
					symlinkSync(busybox ?? "", join(bin, tool));
				return { shell: join(bin, "ash"), path: bin };
			},
			busybox === undefined ? "there is no busybox" : undefined,
		],
		["a grep that stops at NUL", withWeakGrep, missing("/bin/grep")],
	];

	function missing(file: string): string | undefined {
		return existsSync(file) ? undefined : `there is no ${file}`;
	}

	/** As the grep of a small busybox: it takes the first NUL for the end. */
	function withWeakGrep(): Partial<AgentFixture> {
		const bin = join(folder.path, "bin");
		mkdirSync(bin);
		writeFileSync(
			join(bin, "grep"),
			`#!/bin/sh
case $1 in -l*) exit 1 ;; esac
tr '\\0\\n' '\\n\\1' | head -n 1 | tr '\\1' '\\n' | /bin/grep "$@"
`,
		);
		chmodSync(join(bin, "grep"), 0o755);
		return { path: `${bin}:${process.env.PATH}` };
	}

	test.for(shells)("leaves nothing behind where the guard has %s", async ([
		,
		change,
		why,
	], { skip }) => {
		skip(why !== undefined, why);
		const started = await startAgent({ workers: 2, ...change() });
		signalProcess(started.agentPid, "SIGKILL");
		await allGone([...started.family, started.guard]);
		expect(existsSync(channelRoot)).toBe(false);
	});
});

/** Whether a guard has begun its work. */
const ignoresSignals = (pid = -1) =>
	/^SigIgn:\s*0*5007$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

describe.skipIf(!onLinux)("a guard", () => {
	let guard: Guard | undefined;
	let warnings: string[];

	beforeEach(() => {
		warnings = [];
		guard = undefined;
	});
	afterEach(() => guard?.close());

	function begin(shell?: string): Guard {
		guard = startGuard({
			clock: systemClock,
			channelRoot,
			mark: "ELASTIC_RUN_INCARNATION=none",
			path: process.env.PATH,
			warn: (message) => warnings.push(message),
			shell,
		});
		return guard;
	}

	test("minds no signal but SIGKILL, and is then started again with all it knew", async () => {
		const started = begin();
		const first = started.pid ?? -1;
		const worker = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
		strays.push(worker.pid ?? -1, first);
		started.add(worker.pid ?? -1);
		await waitFor("the guard to ignore signals", () => ignoresSignals(first));
		signalProcess(first, "SIGKILL");
		await waitFor("another guard", () => started.pid !== first);
		expect(warnings).toEqual([
			expect.stringContaining(`(pid ${first}) ended before this launcher`),
		]);
		expect(isAlive(worker.pid ?? -1)).toBe(true);
		started.close();
		await waitFor("the worker's end", () => !isAlive(worker.pid ?? -1));
	});

	test.each([
		["removes the channels of an agent that was killed", "one", false],
		[
			"but not those of the next agent, which has taken their place",
			"two",
			true,
		],
	])("%s", async (_, owner, stays) => {
		mkdirSync(channelRoot, { recursive: true });
		const ownerFile = join(channelRoot, "agent.json");
		writeFileSync(ownerFile, "one");
		const shell = spawnGuard(channelRoot);
		const ended = once(shell, "exit");
		strays.push(shell.pid ?? -1);
		await waitFor("the guard to ignore signals", () =>
			ignoresSignals(shell.pid),
		);
		writeFileSync(ownerFile, owner);
		shell.stdin.end();
		await ended;
		expect(existsSync(channelRoot)).toBe(stays);
	});

	test("that cannot be started is a warning", async () => {
		begin("/no/such/shell");
		await waitFor("the warning", () => warnings.length > 0);
		expect(warnings).toEqual([
			expect.stringMatching(/^no guard could be started .*ENOENT.*SIGKILL/),
		]);
		guard?.add(424_242_424);
	});
});

/** A guard of nobody's: no process bears its mark. */
function spawnGuard(channelRoot: string) {
	return spawn("/bin/sh", ["-c", GUARD_SCRIPT], {
		env: {
			PATH: process.env.PATH,
			root: channelRoot,
			mark_name: "NO_SUCH",
			mark_value: "mark",
		},
		stdio: ["pipe", "ignore", "ignore"],
	});
}

const MARK = "TEST_MARK=/elastic-run-0/run.agent/";

/** Sleeps with this environment until the test ends. */
async function sleeper(env: Record<string, string>): Promise<ChildProcess> {
	const child = spawn("/bin/sh", ["-c", "echo; exec sleep 600"], {
		env: { PATH: "/usr/bin:/bin", ...env },
		stdio: ["ignore", "pipe", "ignore"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	// Between fork and exec a process has the environment of this one.
	await once(child.stdout ?? child, "data");
	return child;
}

const pidsOf = (processes: MarkedProcesses) =>
	processes.find().found.map(({ pid }) => pid);

describe.skipIf(process.platform !== "linux")("processes with a mark", () => {
	it("are found, and no others, however often one looks", async () => {
		const processes = new MarkedProcesses(MARK);
		expect(pidsOf(processes)).toEqual([]);
		const marked = await sleeper({ TEST_MARK: "/elastic-run-0/run.agent/w0" });
		const other = await sleeper({ TEST_MARK: "/elastic-run-0/other/w0" });
		for (const _ of [1, 2]) {
			expect(pidsOf(processes)).toContain(marked.pid);
			expect(pidsOf(processes)).not.toContain(other.pid);
		}
		const second = await sleeper({ TEST_MARK: "/elastic-run-0/run.agent/w1" });
		expect(pidsOf(processes)).toContain(second.pid);

		marked.kill("SIGKILL");
		await once(marked, "exit");
		expect(pidsOf(processes)).not.toContain(marked.pid);
	});
});
