import {
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunMirror } from "../../../src/agent/presence/local-run.js";
import {
	encodeIdentity,
	ownIdentity,
} from "../../../src/channel/process-identity.js";
import { systemHost } from "../../../src/config/host.js";
import { localBases } from "../../../src/node-files/local-agents.js";
import { decodeMirror } from "../../../src/node-files/node-file.js";
import {
	findLocalRuns,
	findRun,
	findRuns,
} from "../../../src/operate/found-runs.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { roundRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const UID = process.getuid?.() ?? 0;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** An agent's directory, of this process unless another owner is given. */
function agentDirectory(name: string, owner = ownIdentity()): string {
	const directory = join(folder.path, `elastic-run-${UID}`, name);
	mkdirSync(directory, { recursive: true });
	writeFileSync(join(directory, "agent.json"), encodeIdentity(owner));
	return directory;
}

function openMirror(directory: string, store = new MemoryStore()) {
	const clock = new VirtualClock();
	const warnings: string[] = [];
	const warn = (message: string) => void warnings.push(message);
	const log = { debug: warn, info: warn, warn, error: warn };
	const mirror = new RunMirror({
		store,
		clock,
		log,
		runId: "r",
		directory: () => directory,
		onState: () => {},
	});
	return { mirror, store, clock, warnings };
}

const put = (store: MemoryStore, key: string, value: string) =>
	store.transaction([], [{ put: `/elastic-run/r/${key}`, value }]);

describe("the mirror of a run", () => {
	it("has the run's keys soon after each change, and no others", async () => {
		const directory = agentDirectory("r.a");
		const { store, clock, mirror, warnings } = openMirror(directory);
		await put(store, "round", "1");
		await store.transaction(
			[],
			[{ put: "/elastic-run/r.2/round", value: "x" }],
		);
		await clock.advance(100);
		const [first] = findLocalRuns([folder.path], UID);
		expect([...(first?.snapshot.entries.values() ?? [])]).toMatchObject([
			{ key: "/elastic-run/r/round", value: "1", createRevision: 2 },
		]);
		await put(store, "round", "2");
		await clock.advance(100);
		const [second] = findLocalRuns([folder.path], UID);
		expect(second?.snapshot.entries.get("/elastic-run/r/round")?.value).toBe(
			"2",
		);
		expect(second).toMatchObject({
			...{ runId: "r", directory, owner: { pid: process.pid } },
		});
		mirror.close();
		expect(readdirSync(directory).sort()).toEqual(["agent.json", "run.json"]);
		expect(warnings).toEqual([]);
	});

	it("warns once where it cannot be written, and goes on", async () => {
		const directory = agentDirectory("r.a");
		rmSync(directory, { recursive: true });
		const { store, clock, mirror, warnings } = openMirror(directory);
		for (const value of ["1", "2"]) {
			await put(store, "round", value);
			await clock.advance(100);
		}
		expect(warnings).toHaveLength(1);
		expect(warnings[0]).toContain("ENOENT");
		mkdirSync(directory);
		await put(store, "round", "3");
		await clock.advance(100);
		expect(readFileSync(join(directory, "run.json"), "utf8")).toContain('"3"');
		mirror.close();
	});

	it.each([
		["no JSON", "{"],
		["another version", '{"version":2,"runId":"r","revision":1,"entries":[]}'],
		["no entries", '{"version":1,"runId":"r","revision":1,"entries":[{}]}'],
		["no run", '{"version":1,"revision":1,"entries":[]}'],
		["nothing", "null"],
	])("is none where there is %s", (_, text) => {
		expect(decodeMirror(text)).toBeUndefined();
	});
});

describe("runs of this machine", () => {
	it("are told of although one of them cannot be read, whichever name it has", async () => {
		for (const [name, runId, round] of [
			["r.broken", "r", "{"],
			["r.whole", "r", JSON.stringify(roundRecord({ instance: 7 }))],
			["s.broken", "s", '{"version":1}'],
		] as const) {
			const { mirror, store, clock } = openMirror(agentDirectory(name));
			await put(store, "round", round);
			await clock.advance(100);
			mirror.close();
			const file = join(folder.path, `elastic-run-${UID}`, name, "run.json");
			const text = readFileSync(file, "utf8");
			writeFileSync(
				file,
				text
					.replace('"runId":"r"', `"runId":"${runId}"`)
					.replaceAll("/elastic-run/r/", `/elastic-run/${runId}/`),
			);
		}
		const environment = { ELASTIC_RUN_DIR: folder.path };
		const searcher = {
			host: { ...systemHost(environment), temporaryDirectory: folder.path },
			...{ uid: UID, clock: new VirtualClock() },
		};
		const places = { local: true, store: undefined, isStoreAssumed: true };
		const warnings: string[] = [];
		const warn = (message: string) => void warnings.push(message);

		const all = await findRuns(places, searcher, warn);
		expect(all.map(({ status }) => status.instance)).toEqual([7]);
		expect(warnings.map((words) => words.split(": ")[0])).toEqual([
			expect.stringContaining("/r.broken"),
			expect.stringContaining("/s.broken"),
		]);
		const named = await findRun("r", places, searcher, warn);
		expect(named.map(({ status }) => status.instance)).toEqual([7]);
		const one = findRun("s", places, searcher, warn);
		await expect(one).rejects.toMatchObject({ exitCode: 3 });
	});

	const EMPTY = '{"version":1,"runId":"r","revision":1,"entries":[]}';

	it("are those of living agents that keep their state themselves", () => {
		const dead = { ...ownIdentity(), startTime: "1" };
		for (const [name, owner] of [["r.a"], ["r.dead", dead]] as const) {
			writeFileSync(join(agentDirectory(name, owner), "run.json"), EMPTY);
		}
		agentDirectory("r.etcd");
		writeFileSync(join(agentDirectory("r.torn"), "run.json"), "{");
		writeFileSync(join(folder.path, `elastic-run-${UID}`, "a-file"), "");
		const found = findLocalRuns([folder.path, "/nowhere"], UID);
		expect(found.map(({ directory }) => directory)).toEqual([
			join(folder.path, `elastic-run-${UID}`, "r.a"),
		]);
	});

	it("are not looked for through a link, nor in what belongs to others", () => {
		writeFileSync(join(agentDirectory("r.a"), "run.json"), EMPTY);
		const other = join(folder.path, "other");
		mkdirSync(other);
		symlinkSync(
			join(folder.path, `elastic-run-${UID}`),
			join(other, `elastic-run-${UID}`),
		);
		expect(findLocalRuns([other], UID)).toEqual([]);
		renameSync(
			join(folder.path, `elastic-run-${UID}`),
			join(folder.path, "elastic-run-99999"),
		);
		expect(findLocalRuns([folder.path], 99_999)).toEqual([]);
	});

	it("are looked for wherever a session of this user may have put them", () => {
		const host = {
			...systemHost({}),
			cwd: "/srv",
			temporaryDirectory: "/tmp",
		};
		const bases = (environment: Record<string, string>) =>
			localBases({ ...host, environment }, 7);
		expect(bases({})).toEqual(["/run/user/7", "/tmp"]);
		expect(
			bases({ ELASTIC_RUN_DIR: "dir", XDG_RUNTIME_DIR: "/run/user/7" }),
		).toEqual(["/srv/dir", "/run/user/7", "/tmp"]);
	});
});
