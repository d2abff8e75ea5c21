import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import type {
	AgentFixture,
	AgentFixtureStarted,
} from "../fixtures/workers/agent.js";
import { bundled } from "../helpers/bundled.js";
import { guardsOf } from "../helpers/guards.js";
import {
	endProcess,
	isAlive,
	signalProcess,
	temporaryFolder,
	waitFor,
} from "../helpers/processes.js";
import { onTestFinished } from "../helpers/this-test.js";

const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync);

interface Heard {
	readonly agent: ChildProcess;
	readonly agentPid: number;
	readonly family: readonly number[];
	/** The other end of the guard's connection. */
	readonly socket: Socket;
	/** What was said there, and who lived then. */
	readonly words: { readonly word: string; readonly alive: number[] }[];
	readonly channelRoot: string;
	stderr: string;
}

/** An agent whose guard has a connection to this test. */
async function startSpeaker(
	change: (folder: string) => Partial<AgentFixture> = () => ({}),
): Promise<Heard> {
	const folder = temporaryFolder();
	onTestFinished(() => folder.remove());
	const channelRoot = join(folder.path, "elastic-run-0", "run.agent");
	const outputs = join(folder.path, "outputs");
	mkdirSync(outputs);
	const server = createServer().listen(0, "127.0.0.1");
	onTestFinished(() => void server.close());
	await once(server, "listening");
	const settings: AgentFixture = {
		...{ channelRoot, outputs, workers: 2 },
		file: resolve("test/fixtures/workers/has-child.sh"),
		speaksTo: (server.address() as AddressInfo).port,
		...change(folder.path),
	};
	const program = bundled("test/fixtures/workers/agent.ts");
	const agent = spawn(process.execPath, [program, JSON.stringify(settings)], {
		stdio: ["ignore", "pipe", "pipe"],
	});
	const { pid: agentPid = -1 } = agent;
	onTestFinished(() => endProcess(agentPid));
	const called = once(server, "connection");
	const lines = createInterface(agent.stdout);
	const [line] = await once(lines, "line");
	const [socket]: Socket[] = await called;
	if (socket === undefined) expect.unreachable();
	const started: AgentFixtureStarted = JSON.parse(String(line));
	const family = started.workers;
	onTestFinished(() => family.forEach(endProcess));
	const words: Heard["words"] = [];
	socket.on("error", () => {});
	socket.on("data", (bytes) =>
		words.push({ word: String(bytes), alive: family.filter(isAlive) }),
	);
	const heard: Heard = {
		...{ agent, agentPid, family, socket, words, channelRoot },
		stderr: "",
	};
	agent.stderr.on("data", (text) => {
		heard.stderr += text;
	});
	return heard;
}

const GONE = [{ word: "gone", alive: [] }];
/** Its guard, once the one before it is gone, which had no connection yet. */
const onlyGuard = (agentPid: number) =>
	waitFor("one guard", () => {
		const [guard, ...others] = guardsOf(agentPid);
		return others.length === 0 && guard;
	});
const kill = (pid = -1) => signalProcess(pid, "SIGKILL");

describe.skipIf(process.platform !== "linux")("A9 a guard's last word", () => {
	const shells: [string, (folder: string) => Partial<AgentFixture>, boolean][] =
		[
			["sh", () => ({}), true],
			["dash", () => ({ shell: "/bin/dash" }), existsSync("/bin/dash")],
			["bash", () => ({ shell: "/bin/bash" }), existsSync("/bin/bash")],
			["busybox", withBusybox, busybox !== undefined],
		];

	function withBusybox(folder: string): Partial<AgentFixture> {
		const bin = join(folder, "bin");
		mkdirSync(bin);
		for (const tool of ["ash", "grep", "tr", "sleep", "rm"])
			symlinkSync(busybox ?? "", join(bin, tool));
		return { shell: join(bin, "ash"), path: bin };
	}

	it.for(shells)("comes once all workers are gone, from %s", async ([
		,
		change,
		isHere,
	], { skip }) => {
		skip(!isHere, "no such shell here");
		const heard = await startSpeaker(change);
		expect(heard.family.filter(isAlive)).toEqual(heard.family);
		kill(heard.agentPid);
		await once(heard.socket, "close");
		expect(heard.words).toEqual(GONE);
	});

	it("is about workers too that only the guard before it was told of", async () => {
		const heard = await startSpeaker(() => ({ unmarked: true }));
		kill(heard.agentPid);
		await once(heard.socket, "close");
		expect(heard.words).toEqual(GONE);
	});

	it("is not said where the agent ends in order", async () => {
		const heard = await startSpeaker();
		signalProcess(heard.agentPid, "SIGTERM");
		await once(heard.socket, "close");
		expect(heard.words).toEqual([]);
	});

	it("is said by the guard that follows one that was killed", async () => {
		const heard = await startSpeaker();
		kill(await onlyGuard(heard.agentPid));
		await waitFor("another guard", () => heard.stderr.includes("again"));
		kill(heard.agentPid);
		await once(heard.socket, "close");
		expect(heard.words).toEqual(GONE);
	});

	it("is nobody's where the connection is gone; but a guard follows, and ends the workers", async () => {
		const heard = await startSpeaker();
		heard.socket.destroy();
		// The agent sees it, although it shares the connection with its guard.
		await waitFor("the agent to see it", () => heard.stderr.includes("closed"));
		kill(await onlyGuard(heard.agentPid));
		await waitFor("another guard", () => heard.stderr.includes("again"));
		kill(heard.agentPid);
		await waitFor("all to be gone", () => !heard.family.some(isAlive));
		await waitFor("no channels", () => !existsSync(heard.channelRoot));
		expect(heard.stderr).not.toContain("no guard");
	});

	it("ends in the air where the connection breaks just then, without harm", async () => {
		const heard = await startSpeaker();
		const guard = await onlyGuard(heard.agentPid);
		for (const pid of [heard.agentPid, guard]) signalProcess(pid, "SIGSTOP");
		heard.socket.resetAndDestroy();
		kill(heard.agentPid);
		signalProcess(guard, "SIGCONT");
		await waitFor("no channels", () => !existsSync(heard.channelRoot));
		expect(heard.family.filter(isAlive)).toEqual([]);
	});
});
