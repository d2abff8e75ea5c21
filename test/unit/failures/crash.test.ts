import { describe, expect, it } from "vitest";
import {
	type CoreSettings,
	type CrashFacts,
	corePlace,
	explainCrash,
} from "../../../src/failures/crash.js";

const FACTS: CrashFacts = {
	...{
		signal: undefined,
		pid: 812,
		cwd: "/job",
		stderr: "",
		message: undefined,
	},
	...{ isOutOfMemory: false, cores: undefined, trace: undefined },
};
const CORES: CoreSettings = { pattern: "core", usesPid: false, isOff: false };

const FAULT = `step 7
Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait

Current thread 0x00007f0000000002 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/ops.py", line 12 in call
  File "/job/model.py", line 41 in forward
  File "/job/train.py", line 9 in main
  File "/job/train.py", line 20 in <module>

Extension modules: numpy.core._multiarray_umath (total: 1)
`;

describe("what ended a worker", () => {
	it.each<[string, Partial<CrashFacts>, string | undefined]>([
		[
			"the kernel, for memory",
			{ signal: "SIGKILL", isOutOfMemory: true },
			"out of memory",
		],
		[
			"a full disk, by its error file",
			{ message: "OSError: [Errno 28] No space left on device: '/data/a'" },
			"the disk is full",
		],
		[
			"a full disk, by its stderr",
			{ stderr: "a\nError: ENOSPC: no space left on device, write\nb" },
			"the disk is full",
		],
		[
			"its data loader, said before a framework's long stack",
			{
				stderr: `RuntimeError: DataLoader worker (pid 9) is killed by signal: Killed.\n${'  File "/venv/site-packages/lightning/loop.py", line 1, in run\n    self.run()\n'.repeat(40)}RuntimeError: DataLoader worker (pid(s) 9) exited unexpectedly`,
			},
			"a process of its data loader was killed",
		],
		[
			"something else, long after it lived through a full disk",
			{
				stderr: `cache off: No space left on device\n${"step\n".repeat(60)}ValueError: x`,
			},
			undefined,
		],
		[
			"a crash, at the innermost line of the user's own",
			{ signal: "SIGSEGV", stderr: FAULT },
			"at /job/model.py:41 in forward",
		],
		["an exit code", { stderr: FAULT }, undefined],
	])("%s", (_, facts, what) => {
		expect(explainCrash({ ...FACTS, ...facts }).what).toBe(what);
	});

	it("is told with the last Python frames and the core file", () => {
		const facts = { ...FACTS, signal: "SIGSEGV", stderr: FAULT, cores: CORES };
		expect(explainCrash(facts).lines).toEqual([
			"its last Python frames: /job/model.py:41 in forward < /job/train.py:9 in main < /job/train.py:20 in <module>",
			"its core file: /job/core",
		]);
	});

	it("C5 of NCCL's time-out is told by its log, with the place at which it stood", () => {
		const stderr = `[rank0]:[E ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n${FAULT}`;
		expect(explainCrash({ ...FACTS, signal: "SIGABRT", stderr })).toEqual({
			what: "a collective of NCCL timed out",
			lines: [
				expect.stringContaining("did not come to this collective"),
				expect.stringContaining("its last Python frames: /job/model.py:41"),
			],
		});
	});

	it("C5 is what its words mean: shared memory is no disk", () => {
		const message =
			"RuntimeError: unable to write to file </torch_7_9>: No space left on device (28)";
		const { what, lines } = explainCrash({ ...FACTS, message });
		expect(what).toBe("too little shared memory");
		expect(lines).toEqual([expect.stringMatching(/\/dev\/shm .*--shm-size/)]);
	});

	it("is told with the line that names the file on a full disk", () => {
		const message = "OSError: [Errno 28] No space left on device: '/data/a'";
		expect(explainCrash({ ...FACTS, message }).lines[0]).toBe(message);
	});
});

describe("the core file's place", () => {
	it.each<[Partial<CoreSettings>, string | undefined]>([
		[{}, "its core file: /job/core"],
		[{ pattern: "core.%p", usesPid: true }, "its core file: /job/core.812"],
		[{ pattern: "/var/core/%e.%p.%t" }, "its core file: /var/core/*.812.*"],
		[{ pattern: "" }, undefined],
		[
			{ isOff: true },
			"no core file: its size is limited to 0 (ulimit -c unlimited allows one)",
		],
		[
			{ pattern: "|/usr/lib/systemd/systemd-coredump %P %u", isOff: true },
			"its core dump is with systemd-coredump: coredumpctl info 812",
		],
		[
			{ pattern: "|/usr/share/apport/apport -p%p" },
			"its core dump went to apport: see /var/crash",
		],
	])("%o: %s", (change, words) => {
		expect(corePlace({ ...CORES, ...change }, 812, "/job")).toBe(words);
	});
});
