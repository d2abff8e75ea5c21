"""An ordinary DDP script. It notes when it has made its first step, and goes on until it is told to end."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    model(torch.ones(16, 64)).sum().backward()
    optimizer.step()


step()
marks = sys.argv[1]
with open(os.path.join(marks, "marks"), "a") as file:
    file.write("%s %s %d %d\n" % (os.environ["TORCHELASTIC_RESTART_COUNT"], os.environ["RANK"], os.getpid(), time.time() * 1000))
while True:
    step()
    time.sleep(0.02)
    dist.all_reduce(torch.zeros(1))
