"""A DDP script that hangs again and again, each time as the next item of a plan says, and then ends well. It knows nothing
of elastic-run but the number of its round, which it writes to DIRECTORY/hang-<item> when it hangs. It writes the time of
each step to DIRECTORY/<item>.<rank>.

Usage: train.py DIRECTORY PLAN, where PLAN is a JSON list of {"kind", "rank", "step"}.
"""
import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

directory, plan = sys.argv[1], json.loads(sys.argv[2])
item = len([name for name in os.listdir(directory) if name.startswith("hang-")])
fault = plan[item] if item < len(plan) else {"kind": "none", "rank": -1, "step": -1}
is_it = fault["rank"] == int(os.environ["RANK"])
LAST_STEP = 10
STEP_SECONDS = 0.03


def mark():
    with open(os.path.join(directory, "hang-%d" % item), "w") as file:
        file.write(os.environ["ELASTIC_RUN_ROUND"])


def sleeps():
    time.sleep(1e6)  # hang: sleep


def spins():
    while True:
        sum(range(10_000))  # hang: spin


def waits_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()  # hang: lock


def reads_a_socket():
    ours, theirs = socket.socketpair()
    ours.recv(1)  # hang: socket
    theirs.close()


def is_stopped():
    os.kill(os.getpid(), signal.SIGSTOP)  # hang: stopped


def holds_the_interpreter():
    mutex = ctypes.create_string_buffer(64)
    lock = ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    lock(mutex)  # hang: gil


def calls_another_collective():
    dist.barrier()  # hang: collective


WAYS = {
    "sleep": sleeps,
    "spin": spins,
    "lock": waits_for_a_lock,
    "socket": reads_a_socket,
    "stopped": is_stopped,
    "gil": holds_the_interpreter,
    "collective": calls_another_collective,
}


class Samples(Dataset):
    def __len__(self):
        return 1_000

    def __getitem__(self, index):
        if is_it and index == fault["step"]:
            mark()
            time.sleep(1e6)
        return torch.ones(4)


def batches():
    if fault["kind"] == "loader":
        return DataLoader(Samples(), batch_size=None, num_workers=1)
    return (torch.ones(4) for _ in range(LAST_STEP))


dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
times = os.open(os.path.join(directory, "%d.%d" % (item, dist.get_rank())), os.O_WRONLY | os.O_CREAT)
step = 0
for batch in batches():  # hang: loader
    time.sleep(STEP_SECONDS)
    if is_it and step == fault["step"] and fault["kind"] in WAYS:
        mark()
        WAYS[fault["kind"]]()
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
    os.pwrite(times, b"%.3f" % (time.time() * 1_000), 0)
    step += 1
# The end of Python may take longer than the limit on a busy machine.
os._exit(0)
