"""A DDP script that hangs in each round but the last, each time in another way. It knows nothing of elastic-run but the
number of its round. It writes the time of each step to DIRECTORY/<round>.<rank>.

Usage: train.py DIRECTORY PLAN, where PLAN is a JSON list of {"kind", "rank", "step"}, one for each round.
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
round_number = int(os.environ["ELASTIC_RUN_ROUND"])
fault = plan[round_number - 1] if round_number <= len(plan) else {"kind": "none", "rank": -1, "step": -1}
is_it = fault["rank"] == int(os.environ["RANK"])
LAST_STEP = 10
STEP_SECONDS = 0.03


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
            time.sleep(1e6)
        return torch.ones(4)


def batches():
    if fault["kind"] == "loader":
        return DataLoader(Samples(), batch_size=None, num_workers=1)
    return (torch.ones(4) for _ in range(LAST_STEP))


dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
times = os.open(os.path.join(directory, "%d.%d" % (round_number, dist.get_rank())), os.O_WRONLY | os.O_CREAT)
step = 0
for batch in batches():  # hang: loader
    time.sleep(STEP_SECONDS)
    if is_it and step == fault["step"]:
        WAYS.get(fault["kind"], lambda: None)()
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
    os.pwrite(times, b"%.3f" % (time.time() * 1_000), 0)
    step += 1
# The end of Python may take longer than the limit on a busy machine.
os._exit(0)
