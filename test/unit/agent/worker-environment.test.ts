import { expect, it } from "vitest";
import {
	commandOf,
	workerEnvironment,
} from "../../../src/agent/workers/worker-environment.js";
import { workerInfo } from "../../../src/agent/workers/worker-group.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";

const ROUND = roundRecord({
	instance: 1_795_163_940_000,
	synced: 4,
	planId: "plan-1",
	incidents: 2,
	world: {
		worldSize: 7,
		groupWorldSize: 2,
		roleWorldSizes: { trainer: 6, reader: 1 },
		masterAddr: "10.0.0.1",
		masterPort: 40_123,
	},
});
const SEAT = seatRecord("b", {
	round: 4,
	groupRank: 1,
	firstRank: 3,
	firstRoleRank: 2,
	localWorldSize: 4,
	role: "trainer",
});
const INFO = workerInfo("train-1", ROUND, SEAT, 1);

it("gives a worker its ranks: the seat's first ones plus its local rank", () => {
	expect(INFO).toEqual({
		localRank: 1,
		rank: 4,
		roleRank: 3,
		groupRank: 1,
		localWorldSize: 4,
		roleWorldSize: 6,
		worldSize: 7,
		groupWorldSize: 2,
		role: "trainer",
		masterAddr: "10.0.0.1",
		masterPort: 40_123,
		round: 4,
		restartCount: 2,
		runId: "train-1",
	});
});

const PLACE = {
	info: INFO,
	instance: ROUND.instance,
	channel: "/run/channel/w1.1",
	errorFile: "/logs/1/error.json",
};

const environmentOf = (
	environment: Record<string, string | undefined>,
	pythonPath?: string,
	pythonHook?: string,
	place: { hook?: string; info?: typeof INFO } = {},
	virtualLocalRank = false,
) => {
	const node = { nodeId: "node-b", maxRestarts: 3, virtualLocalRank };
	const config = { environment, pythonPath, pythonHook, ...node };
	return workerEnvironment(
		{ config, incarnation: "b-1" },
		{ ...PLACE, hook: undefined, ...place },
	);
};

it.each([
	[{}, "1"],
	[{ CUDA_VISIBLE_DEVICES: "4, 6" }, "6"],
])("--virtual-local-rank: of %j the worker gets its own", (parent, device) => {
	const own = environmentOf(parent, undefined, undefined, {}, true);
	expect(own).toMatchObject({ LOCAL_RANK: "0", CUDA_VISIBLE_DEVICES: device });
});

it("puts the local rank into a worker's arguments, as torchrun does", () => {
	const command = {
		file: "python3",
		args: ["train.py", "--device", "cuda:$" + "{local_rank}"],
		cwd: "/",
	};
	const typed = { ...command, display: "train.py", typed: command.args };
	expect(commandOf({ command: typed, stdinRank: undefined }, 1).args).toEqual([
		"train.py",
		"--device",
		"cuda:1",
	]);
});

it("sets torchrun's names with torchrun's meanings, and its own", () => {
	expect(environmentOf({})).toEqual({
		RANK: "4",
		LOCAL_RANK: "1",
		GROUP_RANK: "1",
		ROLE_RANK: "3",
		ROLE_NAME: "trainer",
		WORLD_SIZE: "7",
		LOCAL_WORLD_SIZE: "4",
		GROUP_WORLD_SIZE: "2",
		ROLE_WORLD_SIZE: "6",
		MASTER_ADDR: "10.0.0.1",
		MASTER_PORT: "40123",
		TORCHELASTIC_RESTART_COUNT: "2",
		TORCHELASTIC_MAX_RESTARTS: "3",
		TORCHELASTIC_RUN_ID: "train-1",
		TORCHELASTIC_ERROR_FILE: "/logs/1/error.json",
		TORCHELASTIC_USE_AGENT_STORE: "False",
		ELASTIC_RUN_CHANNEL: "/run/channel/w1.1",
		ELASTIC_RUN_INSTANCE: "1795163940000",
		ELASTIC_RUN_ROUND: "4",
		ELASTIC_RUN_RUN_ID: "train-1",
		ELASTIC_RUN_NODE_ID: "node-b",
		ELASTIC_RUN_INCARNATION: "b-1",
		OMP_NUM_THREADS: "1",
		PYTHONUNBUFFERED: "1",
		PYTHONFAULTHANDLER: "1",
		TQDM_MININTERVAL: "5",
	});
});

it("passes on what it inherits, but none of the launcher's own settings and credentials", () => {
	const environment = environmentOf({
		HOME: "/home/u",
		UNSET: undefined,
		PYTHONUNBUFFERED: "",
		RANK: "99",
		ELASTIC_RUN_RDZV_ENDPOINT: "etcd:2379",
		ELASTIC_RUN_RDZV_PASSWORD: "secret",
	});
	expect(environment).toMatchObject({
		...{ HOME: "/home/u", RANK: "4", PYTHONUNBUFFERED: "" },
	});
	expect(Object.keys(environment)).not.toContain("UNSET");
	expect(JSON.stringify(environment)).not.toMatch(/secret|etcd:2379/);
});

it.each([
	[undefined, undefined, undefined, undefined],
	["", "/library", undefined, "/library"],
	["/mine:", "/library", undefined, "/mine::/library"],
	["/mine:/library:/more", "/library", undefined, "/mine:/library:/more"],
	["/mine/library", "/library", undefined, "/mine/library:/library"],
	[undefined, undefined, "/hook", "/hook"],
	["/mine:", "/library", "/hook", "/hook:/mine::/library"],
	["/library:/hook", "/library", "/hook", "/hook:/library"],
])("makes of PYTHONPATH=%s, the library in %s and the hook in %s: %s", (own, library, hook, made) => {
	const environment = environmentOf({ PYTHONPATH: own }, library, hook);
	expect(environment.PYTHONPATH).toBe(made);
});

it.each([
	["--inspect", "--inspect=9230"],
	["--inspect=9300", "--inspect=9301"],
	["--inspect-brk=0.0.0.0:9300", "--inspect-brk=0.0.0.0:9301"],
	["--inspect=[::1]:9300", "--inspect=[::1]:9301"],
	["--inspect=localhost", "--inspect=localhost:9230"],
	["--inspect=127.0.0.1:0", "--inspect=127.0.0.1:0"],
	["--inspect --inspect-port=9300", "--inspect --inspect-port=9301"],
	["--title=a --inspect-wait=9300 -r x", "--title=a --inspect-wait=9301 -r x"],
	["--inspect-publish-uid=http", "--inspect-publish-uid=http"],
])("gives each worker a debugger's port of its own: %s is %s for the next one", (own, next) => {
	const environment = { NODE_OPTIONS: own };
	expect(environmentOf(environment).NODE_OPTIONS).toBe(next);
	const info = { ...INFO, localRank: 0 };
	const first = environmentOf(environment, undefined, undefined, { info });
	expect(first.NODE_OPTIONS).toBe(own);
});

it("names the hook's directory, and never an outer launcher's", () => {
	const parent = { ELASTIC_RUN_HOOK: "/outer" };
	const hook = "/run/channel/w1.1/hook";
	expect(environmentOf(parent)).not.toHaveProperty("ELASTIC_RUN_HOOK");
	expect(environmentOf(parent, undefined, undefined, { hook })).toMatchObject({
		ELASTIC_RUN_HOOK: hook,
	});
});

it("leaves the number of threads alone where a node has one worker", () => {
	const info = { ...INFO, localWorldSize: 1 };
	const environment = environmentOf({}, undefined, undefined, { info });
	expect(environment).not.toHaveProperty("OMP_NUM_THREADS");
});
