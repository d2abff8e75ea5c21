// What the report says of failures that are known by their words: src/failures/hints.ts.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

beforeEach((context) => needModules(context, "torch", "huggingface_hub"));

const LOADER = `import os, signal, torch
from torch.utils.data import DataLoader

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if HOW == "kill" and index == 12:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.ones(1 << 20 if HOW == "fill" else 1)

def train():
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=2):
        pass

train()
`;
const ADDRESS = `import socket, torch.distributed as dist
taken = socket.socket()
taken.bind(("", 0))
taken.listen()
dist.TCPStore("127.0.0.1", taken.getsockname()[1], 1, True)
`;
const HUB = `from huggingface_hub import hf_hub_download
hf_hub_download("nobody/has-this", "config.json")
`;

/** In a space of its own, where /dev/shm has only 8 MiB. */
const IN_LITTLE = "mount -t tmpfs -o size=8m none /dev/shm && exec";
const canMount =
	spawnSync("unshare", ["-m", "sh", "-c", `${IN_LITTLE} true`]).status === 0;

/** The report of a run in which this script fails. */
async function reportOf(script: string, setUp?: string) {
	const site = openSite();
	writeFileSync(join(site.path, "train.py"), script);
	const command =
		setUp === undefined
			? ["train.py"]
			: ["unshare", "-m", "sh", "-c", `${setUp} "${PYTHON}" train.py`];
	const { exitCode, stderr } = await site.launch(
		["--max-restarts", "0", ...command],
		{
			cwd: site.path,
			env: { PYTHON_EXEC: PYTHON, HF_HUB_OFFLINE: "1", HF_HOME: site.path },
		},
	).ended;
	expect(exitCode, stderr).toBe(1);
	return stderr.slice(stderr.indexOf("root cause:"));
}

it("C5 a killed process of a data loader is a matter of memory, and the stack is the user's", async () => {
	const report = await reportOf(`HOW = "kill"\n${LOADER}`);
	expect(report).toMatch(
		/^root cause: .* exited unexpectedly, at train\.py:15 in train: a process of its data loader was killed\n/,
	);
	expect(report).toMatch(/\n {2}hint: .*SIGKILL.*num_workers/);
	expect(report).toMatch(
		/\n {2}\|.*train\.py", line 15, in train\n.*\n {2}\| {3}… 4 frames of libraries\n {2}\| RuntimeError: DataLoader worker/,
	);
	expect(report).not.toContain("dataloader.py");
});

it("C5 a full /dev/shm is named, and no disk", async (context) => {
	if (!canMount) context.skip("only root may mount");
	const report = await reportOf(`HOW = "fill"\n${LOADER}`, IN_LITTLE);
	expect(report).toMatch(
		/^root cause: .* shared memory.*, at train\.py:15 in train: too little shared memory\n/,
	);
	expect(report).toMatch(/\n {2}hint: \/dev\/shm is full.*--shm-size/);
});

it("C5 an address in use points to MASTER_PORT", async () => {
	expect(await reportOf(ADDRESS)).toMatch(
		/EADDRINUSE.*, at train\.py:5\n.*\n {2}hint: another process listens at this port\. MASTER_PORT /,
	);
});

it("C5 a file that the hub does not give is to be downloaded before", async () => {
	expect(await reportOf(HUB)).toMatch(
		/LocalEntryNotFoundError.*, at train\.py:2\n.*\n {2}hint: the hub cannot be reached.*hf download/,
	);
});
