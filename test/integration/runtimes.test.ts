import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { errorIn } from "../fixtures/hearing-agent.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { until } from "../fixtures/runtime-harness.js";
import { acting, RUNTIMES } from "../fixtures/runtimes.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";
import { pause, temporaryDirectory, work } from "../unit/channel/samples.js";

describe.each(RUNTIMES)("a worker in $name", (runtime) => {
	beforeEach(runtime.need);

	it("T3 has its event and its place as its first statement", async () => {
		const { event, begin, words } = await acting(runtime, "first");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.shown(event));
		expect(worker.stderr()).toBe("");
		await until(words, ["HELLO", "ACK 1"]);
	});

	it("lives on while it waits for work, and acknowledges the PAUSE", async () => {
		const { channel, begin, words } = await acting(runtime, "waits");
		const worker = begin();
		await until(words, ["HELLO", "ACK 1", "WAITING 1"]);
		channel.send(pause(1), 2);
		await until(() => words().at(-1), "ACK 2");
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		await until(() => words().at(-1), "ACK 3");
	});

	it("reports, and leaves its error in the error file as well", async () => {
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		const { begin, reports } = await acting(runtime, "reports", env);
		const worker = begin();
		expect(await worker.ended).toBe(0);
		const { message, origin, ...reported } = runtime.reported;
		const stack = expect.stringMatching(reported.stack);
		await until(reports, [
			{ kind: "HELLO" },
			{ kind: "PROGRESS", step: 12, loss: 0.5 },
			{ kind: "ACK", event: 1 },
			{ kind: "ERROR", message, stack },
		]);
		const timestamp = expect.stringMatching(/^\d{10}$/);
		expect(errorIn(file)).toEqual({
			message,
			extraInfo: { py_callstack: stack, timestamp, origin },
		});
		expect(readdirSync(join(file, ".."))).toEqual(["error.json"]);
	});
});

const NAMES =
	"{ WorkerState, WorldChangeEvent, getWorkerInfo, getWorkerEvent, waitForWork }";
const TELL = `
	const info = getWorkerInfo();
	const { workerState, kind } = getWorkerEvent();
	const words = [WorkerState.HEALTHY, WorkerState.PAUSED, WorldChangeEvent.SCALE_UP, WorldChangeEvent.SCALE_DOWN];
	waitForWork({ timeoutMs: 0 }).catch(({ code }) =>
		console.log(JSON.stringify([info.rank, kind, workerState === WorkerState.HEALTHY, words, code])));`;

it("the package exports the library as ESM and CommonJS; its states and changes are values", () => {
	for (const [type, load] of [
		["module", `import ${NAMES} from "elastic-run/runtime";`],
		["module", `import ${NAMES} from "elastic-run";`],
		["commonjs", `const ${NAMES} = require("elastic-run/runtime");`],
	]) {
		const args = [`--input-type=${type}`, "--eval", `${load}${TELL}`];
		const env = { PATH: process.env.PATH, RANK: "3", WORLD_SIZE: "4" };
		const told = execFileSync(process.execPath, args, { cwd: ROOT, env });
		expect(JSON.parse(String(told))).toEqual([
			...[3, "WORK", true],
			["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
			"NOT_LAUNCHED",
		]);
	}
});

it("A4 the hook of a Python worker counts the steps of the process, not those of its children, also where its descriptors were closed", async (context) => {
	needPython(context);
	const script = join(ROOT, "test/fixtures/hook/without-torch/steps.py");
	const flags = ["--max-restarts", "0", "--redirects", "0", "--tee", "0"];
	const { exitCode, stdout, stderr } = await openSite().launch(
		[...flags, script],
		{ env: { PYTHON_EXEC: PYTHON } },
	).ended;
	expect(exitCode, stderr).toBe(0);
	const steps = (count: number) => `'${String(count).padStart(20)}'`;
	expect(stdout.trim().split("\n")).toEqual([
		...["False", steps(12), steps(12), steps(14)],
		"True",
	]);
});
