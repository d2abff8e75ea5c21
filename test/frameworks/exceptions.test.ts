// The cause of a failure in words, with real frameworks in the script: docs/status.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

beforeEach((context) => needModules(context, "torch", "rich"));

const DDP = `import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 12 and BAD == "loader" and dist_rank == 1:
            raise ValueError("bad number 12")
        return torch.ones(4)

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, batch in enumerate(loader):
        if number == 12 and BAD == "step" and dist_rank == 1:
            raise ValueError("bad batch 12")
        model(batch).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    dist.init_process_group("gloo")
    dist_rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    train(model, DataLoader(Numbers(), batch_size=2, num_workers=1))
`;
const RICH = "import rich.traceback\nrich.traceback.install()\n";
const RECORD = `from torch.distributed.elastic.multiprocessing.errors import record
train = record(train)
`;

const inMain = (lines: string) =>
	DDP.replace(/(?<=if __name__ .*\n)/, lines.replace(/^(?=.)/gm, "    "));

it.each([
	["a step", "step", DDP, "ValueError: bad batch 12, at train.py:19 in train"],
	[
		"a step, with rich's tracebacks",
		"step",
		inMain(RICH),
		"ValueError: bad batch 12, at train.py:19 in train",
	],
	[
		"a step, under torch's @record",
		"step",
		inMain(RECORD),
		"ValueError: bad batch 12, at train.py:19 in train",
	],
	[
		"a process of the data loader",
		"loader",
		DDP,
		"ValueError: bad number 12, at train.py:12 in __getitem__",
	],
])("D names the exception of the rank that fails in %s", async (_, bad, script, words) => {
	const site = openSite();
	writeFileSync(join(site.path, "train.py"), `BAD = "${bad}"\n${script}`);
	const { exitCode, stderr } = await site.launch(
		["--nproc-per-node", "2", "--max-restarts", "0", "train.py"],
		{ cwd: site.path, env: { PYTHON_EXEC: PYTHON } },
	).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain(`RUNNING→STOPPING rank 1 failed: ${words}\n`);
	expect(stderr).toContain(`, round 1: ${words}\n`);
	expect(stderr).toMatch(/^root cause: rank 1 on /m);
});
