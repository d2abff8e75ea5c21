import { spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
	ChannelRoot,
	openChannelRoot,
} from "../../../src/channel/channel-root.js";
import {
	decodeIdentity,
	encodeIdentity,
	ownIdentity,
} from "../../../src/channel/process-identity.js";
import { temporaryDirectory, uid } from "./samples.js";

const open = (base: string, agentId = "agent") =>
	openChannelRoot({ base, uid, runId: "run", agentId });

const refusal = (problem: RegExp) =>
	expect.objectContaining({
		code: "CHANNEL",
		message: expect.stringMatching(
			new RegExp(`${problem.source}.*Set ELASTIC_RUN_DIR`),
		),
	});

describe("the place", () => {
	it("lies below the base, with its owner's identity", () => {
		const base = temporaryDirectory();
		const root = open(base);
		expect(root.directory).toBe(join(base, `elastic-run-${uid}/run.agent`));
		expect(root.warnings).toEqual([]);
		const owner = readFileSync(join(root.directory, "agent.json"), "utf8");
		expect(decodeIdentity(owner)).toEqual(ownIdentity());
		expect(readdirSync(join(base, `elastic-run-${uid}`))).toEqual([
			"run.agent",
		]);
	});

	it.each([
		["all, who could replace it", 0o777, uid],
		["all, with any group", 0o707, uid + 1],
		["a group with other members", 0o770, uid + 1],
	])("is refused below a base that may be written by %s", (_who, mode, gid) => {
		const base = temporaryDirectory();
		if (uid === 0) chownSync(base, uid, gid);
		chmodSync(base, uid === 0 ? mode : mode | 0o002);
		expect(() => open(base)).toThrow(
			refusal(/its mode is 07\d7?.*other users can replace .*chmod \+t/),
		);
		expect(readdirSync(base)).toEqual([]);
	});

	it.each([
		["all with the sticky bit", 0o1777],
		["the user's own group", 0o770],
	])("is taken below a base that may be written by %s", (_who, mode) => {
		const base = temporaryDirectory();
		if (uid === 0) chownSync(base, uid, uid);
		chmodSync(base, mode);
		expect(existsSync(open(base).directory)).toBe(true);
	});

	it("is refused where it is a symbolic link", () => {
		const base = temporaryDirectory();
		mkdirSync(join(base, "elsewhere"), { mode: 0o700 });
		symlinkSync(join(base, "elsewhere"), join(base, `elastic-run-${uid}`));
		expect(() => open(base)).toThrow(refusal(/symbolic link/));
	});

	it.each([0o777, 0o750, 0o701])("is refused with mode %o", (mode) => {
		const base = temporaryDirectory();
		const directory = join(base, `elastic-run-${uid}`);
		mkdirSync(directory);
		chmodSync(directory, mode);
		expect(() => open(base)).toThrow(refusal(/others can reach it/));
	});

	it("is refused where it is somebody else's", ({ skip }) => {
		if (uid !== 0) skip("only root can give a directory away");
		const base = temporaryDirectory();
		const directory = join(base, `elastic-run-${uid}`);
		mkdirSync(directory, { mode: 0o700 });
		chownSync(directory, 12345, 12345);
		expect(() => open(base)).toThrow(refusal(/belongs to user 12345/));
	});
});

describe("a directory that vanishes", () => {
	it("is made again with the next worker, and others hear of it; what waited ahead is made again too", () => {
		const base = join(temporaryDirectory(), "base");
		const root = open(base);
		const heard: string[] = [];
		root.onMadeAgain((directory) => void heard.push(directory));
		root.createAhead(0, true);
		rmSync(base, { recursive: true });
		const channel = root.createWorker(0);
		expect(existsSync(channel.replies)).toBe(true);
		expect(heard).toEqual([root.directory]);
		const owner = readFileSync(join(root.directory, "agent.json"), "utf8");
		expect(decodeIdentity(owner)).toEqual(ownIdentity());
		root.createAhead(1, true);
		rmSync(join(root.directory, "w1.3"), { recursive: true });
		expect(existsSync(root.createWorker(1).replies)).toBe(true);
	});
});

it("says where the place is on a network file system", () => {
	const root = new ChannelRoot("/mnt/run.agent", "NFS", () => "");
	expect(root.warnings).toEqual([
		expect.stringMatching(/\/mnt\/run.agent .*\(NFS\).*ELASTIC_RUN_DIR/),
	]);
});

describe("what other agents left", () => {
	it("is removed where its agent is dead", async () => {
		const base = temporaryDirectory();
		const self = ownIdentity();
		const dead = leave(base, "dead", { ...self, pid: await deadPid() });
		const reused = leave(base, "reused", { ...self, startTime: "1" });
		const earlier = leave(base, "earlier", { ...self, bootId: "before" });
		const half = leave(base, ".ending-1-run.agent", undefined);
		open(base);
		expect([dead, reused, earlier, half].filter(existsSync)).toEqual([]);
	});

	it("stays where its agent lives or is not known", () => {
		const base = temporaryDirectory();
		const self = ownIdentity();
		const kept = [
			leave(base, "alive", self),
			leave(base, "container", { ...self, pid: 1, pidNamespace: "pid:[1]" }),
			leave(base, "broken", "{}"),
			leave(base, "nobody", undefined),
		];
		open(base);
		expect(kept.filter(existsSync)).toEqual(kept);
	});

	it("makes way for a second agent of the same name", () => {
		const base = temporaryDirectory();
		const first = open(base);
		const second = open(base);
		expect(second.directory).toBe(`${first.directory}.2`);
		first.remove();
		expect(existsSync(second.directory)).toBe(true);
	});
});

function leave(
	base: string,
	name: string,
	owner: ReturnType<typeof ownIdentity> | string | undefined,
): string {
	const directory = join(base, `elastic-run-${uid}`, name);
	mkdirSync(join(directory, "w0.1", "events"), {
		recursive: true,
		mode: 0o700,
	});
	if (owner !== undefined) {
		const text = typeof owner === "string" ? owner : encodeIdentity(owner);
		writeFileSync(join(directory, "agent.json"), text);
	}
	return directory;
}

async function deadPid(): Promise<number> {
	const child = spawn("true");
	await once(child, "exit");
	return child.pid ?? 0;
}
