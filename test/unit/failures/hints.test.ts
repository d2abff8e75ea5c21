import { describe, expect, it } from "vitest";
import { hintOn, phaseHint } from "../../../src/failures/hints.js";
import { parseTrace, withoutLibraries } from "../../../src/failures/trace.js";

const of = (stderr: string, message?: string) =>
	hintOn({ trace: parseTrace(stderr), message, stderr });

const raised = (line: string) =>
	`Traceback (most recent call last):\n  File "/job/train.py", line 4, in <module>\n    go()\n${line}\n`;
const LOADER_KILLED = `${raised("RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed. ")}
The above exception was the direct cause of the following exception:

${raised("RuntimeError: DataLoader worker (pid(s) 71) exited unexpectedly")}`;

// The words as the packages' sources have them: torch 2.13, huggingface_hub 2.4, transformers 5.24, datasets 5.2, Node 20.
describe("C5 a hint for", () => {
	it.each([
		[
			"a bus error of a data loader",
			"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n",
			/\/dev\/shm is full.*--shm-size/,
		],
		[
			"the same, as the loader raises it",
			raised(
				"RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
			),
			/\/dev\/shm is full/,
		],
		[
			"a tensor that does not fit into shared memory",
			raised(
				"RuntimeError: unable to allocate shared memory(shm) for file </torch_9_1_0>: No space left on device (28)",
			),
			/\/dev\/shm is full/,
		],
		["a killed data loader", LOADER_KILLED, /SIGKILL.*num_workers/],
		[
			"a data loader that ended",
			raised(
				"RuntimeError: DataLoader worker (pid(s) 7, 8) exited unexpectedly",
			),
			/num_workers=0/,
		],
		[
			"a full GPU",
			raised(
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB",
			),
			/GPU's memory is used up/,
		],
		[
			"NCCL's time-out",
			"[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600081 milliseconds before timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'\n",
			/init_process_group\(timeout=/,
		],
		[
			"a file that the hub does not give",
			raised(
				"huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled.",
			),
			/hf download/,
		],
		[
			"the same, as transformers tell it",
			raised(
				"OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
			),
			/hf download/,
		],
		[
			"the same, as datasets tell it",
			raised(
				"ConnectionError: Couldn't reach 'squad' on the Hub (OfflineModeIsEnabled)",
			),
			/hf download/,
		],
		[
			"an address in use, in Python",
			raised("OSError: [Errno 98] Address already in use"),
			/MASTER_PORT/,
		],
		[
			"an address in use, in torch",
			raised(
				"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
			),
			/MASTER_PORT/,
		],
		[
			"an address in use, in Node",
			"Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle (node:net:1817:16)\n",
			/MASTER_PORT/,
		],
		[
			"a rank that never came",
			raised(
				"torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to (10.0.0.1, 29500).",
			),
			/--local-addr/,
		],
		[
			"gloo's refused connection",
			raised(
				"RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
			),
			/GLOO_SOCKET_IFNAME/,
		],
		[
			"gloo's time-out",
			raised(
				"RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms for recv operation to complete",
			),
			/did not come to this collective/,
		],
		[
			"gloo's lost peer",
			raised(
				"RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:37843",
			),
			/the rank that failed first/,
		],
	])("%s", (_, stderr, hint) => {
		expect(of(stderr)?.hint).toMatch(hint);
	});

	it("what a worker has lived through is none", () => {
		const survived =
			"[W socket.cpp:767] failed to bind to [::]:29500 (errno: 98 - Address already in use).\nCUDA out of memory: half the batch\n";
		expect(of(`${survived}${raised("ValueError: bad batch")}`)).toBeUndefined();
	});

	it("a connection of the script's own is none", () => {
		const refused = "ConnectionRefusedError: [Errno 111] Connection refused";
		expect(of(raised(refused))).toBeUndefined();
	});

	it("the message of an error file too", () => {
		expect(of("", "CUDA out of memory. Tried to allocate")?.hint).toMatch(
			/GPU/,
		);
	});
});

describe("C5 a stack without libraries", () => {
	it("of Python has the user's lines", () => {
		const stack = `Traceback (most recent call last):
  File "/job/train.py", line 60, in <module>
    main()
    ~~~~^^
  File "/venv/lib/python3.11/site-packages/torch/a.py", line 9, in run
    return call(
           ^^^^^
  File "/usr/lib/python3.11/threading.py", line 3, in wait
    raise ValueError("no")
ValueError: no
`;
		expect(withoutLibraries(stack)).toBe(`Traceback (most recent call last):
  File "/job/train.py", line 60, in <module>
    main()
    ~~~~^^
  … 2 frames of libraries
ValueError: no
`);
	});

	it("of a rank whose lines torch marks has them too", () => {
		const stack = `[rank0]: Traceback (most recent call last):
[rank0]:   File "/venv/lib/python3.11/site-packages/torch/a.py", line 9, in run
[rank0]:     return call()
[rank0]:   File "/job/train.py", line 60, in <module>
[rank0]:     main()
[rank0]: ValueError: no`;
		expect(
			withoutLibraries(stack),
		).toBe(`[rank0]: Traceback (most recent call last):
  … 1 frame of libraries
[rank0]:   File "/job/train.py", line 60, in <module>
[rank0]:     main()
[rank0]: ValueError: no`);
	});

	it("of Node has them too", () => {
		const stack =
			"TypeError: no\n    at load (file:///job/train.js:3:11)\n    at Module._compile (node:internal/modules/cjs/loader:1356:14)";
		expect(withoutLibraries(stack)).toBe(
			"TypeError: no\n    at load (file:///job/train.js:3:11)\n  … 1 frame of libraries",
		);
	});
});

describe("C3 a hang that comes again", () => {
	const hang = "hang at a.py:# in evaluate; step 9";
	it.each([
		["the third time", hang, { fingerprint: hang, times: 2 }, true],
		["later", hang, { fingerprint: hang, times: 5 }, true],
		["the second time", hang, { fingerprint: hang, times: 1 }, false],
		[
			"without a suspect",
			"hang, no suspect: this rank only stands for all; rank 0, step 9",
			{
				times: 2,
				fingerprint:
					"hang, no suspect: this rank only stands for all; rank 0, step 9",
			},
			true,
		],
		[
			"another collective",
			"hang at a.py:# in f: it called barrier; step 9",
			{
				times: 2,
				fingerprint: "hang at a.py:# in f: it called barrier; step 9",
			},
			false,
		],
		[
			"a stopped worker",
			"hang; rank 0, step 9",
			{ fingerprint: "hang; rank 0, step 9", times: 2 },
			false,
		],
		["elsewhere", hang, { fingerprint: "hang at b", times: 2 }, false],
		["the first time", hang, undefined, false],
		["a crash", "exit code 1", { fingerprint: "exit code 1", times: 2 }, false],
	])("%s", (_, fingerprint, row, isPhase) => {
		expect(phaseHint(fingerprint, row) !== undefined).toBe(isPhase);
	});
});
