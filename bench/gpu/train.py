"""One rank of DDP, with NCCL on a GPU, else with gloo. It marks each first step; the faults come in the first life only."""
import os
import sys
import time

is_warm = "torch" in sys.modules  # It was imported ahead, in the helper from which this process was forked.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

marks, fault = sys.argv[1:]
life = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
has_gpu = torch.cuda.is_available()


def mark(word, *values):
    with open(marks, "a") as file:
        file.write(" ".join(map(str, (word, life, time.time(), *values))) + "\n")


def used_memory():
    """Bytes of the device that all processes use together."""
    if not has_gpu:
        return 0
    free, total = torch.cuda.mem_get_info()
    return total - free


def endless_kernel():
    if has_gpu:
        torch.cuda._sleep(1 << 62)
        torch.cuda.synchronize()
    else:
        while True:
            time.sleep(1)


def device_assert():
    index = torch.tensor([1000], device=device)
    torch.zeros(10, device=device)[index]
    if has_gpu:
        torch.cuda.synchronize()


def out_of_memory():
    kept = []
    while True:
        if not has_gpu:
            raise torch.OutOfMemoryError("there is no GPU whose memory could be used up")
        kept.append(torch.empty(1 << 30, device=device))


# Of a warm start this is the helper's state: a process inherits it.
mark("started", "warm" if is_warm else "cold", torch.cuda._initialized or torch.cuda._is_in_bad_fork())
device = torch.device("cuda" if has_gpu else "cpu")
# Before this process uses any: what is in use is the last life's, and the context.
mark("memory", used_memory())
dist.init_process_group("nccl" if has_gpu else "gloo")
model = DistributedDataParallel(torch.nn.Linear(1024, 1024).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step():
    optimizer.zero_grad()
    with torch.autocast(device.type, dtype=torch.bfloat16):
        model(torch.ones(64, 1024, device=device)).sum().backward()
    optimizer.step()
    if has_gpu:
        torch.cuda.synchronize()


step()
mark("stepped", os.getpid())
FAULTS = {"kernel": endless_kernel, "assert": device_assert, "memory": out_of_memory}
until = time.time() + (60 if fault == "kill" and life < 3 else 3)
while time.time() < until:
    step()
    time.sleep(0.02)
    if life == 0 and fault in FAULTS:
        if has_gpu:
            held = torch.empty(1 << 30, device=device)
        FAULTS[fault]()
dist.destroy_process_group()
