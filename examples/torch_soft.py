"""Trains a small network on handwritten digits with PyTorch's DistributedDataParallel. Its workers
keep their process, and what they have in memory, while others go and come:

    npm ci
    elastic-run --restart-policy soft --nnodes 1:4 --nproc-per-node 2 examples/torch_soft.py

When the world changes, the round's group falls apart: a peer is gone, or PAUSE interrupts it. The
survivors wait for work, meet in a new group with their new ranks, and go on from the furthest of
them; whoever is new gets the state from a survivor. A checkpoint is read only by a process that
starts, and counts only where there is no survivor.
"""
import argparse
import io
import os

import elastic_run
from torch_group import RoundGroup  # Before torch: see there.

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch_training import Training, add_options

REPORT_EVERY_STEPS = 20

parser = argparse.ArgumentParser()
add_options(parser)
parser.add_argument("--attempts", type=int, default=100, help="rounds that a process takes part in at most")
options = parser.parse_args()


def agree_on_state(training, is_survivor, info):
    """All go on with what the lowest rank has of those that have come furthest. A survivor counts
    more than a checkpoint."""
    claims = [torch.zeros(2, dtype=torch.int64) for _ in range(info.world_size)]
    dist.all_gather(claims, torch.tensor([is_survivor, training.step]))
    claims = [claim.tolist() for claim in claims]
    source = claims.index(max(claims))
    training.load(broadcast(training.state() if info.rank == source else None, source))


def broadcast(state, source):
    """The state of the source, for all. (torch's collectives of objects work only where numpy is.)"""
    file = io.BytesIO()
    if dist.get_rank() == source:
        torch.save(state, file)
    size = torch.tensor([file.tell()])
    dist.broadcast(size, source)
    content = bytearray(file.getvalue().ljust(size.item(), b"\0"))
    dist.broadcast(torch.frombuffer(content, dtype=torch.uint8), source)
    return torch.load(io.BytesIO(content))


def train_in_round(group, training, info):
    parallel = DistributedDataParallel(training.model)
    checkpoints = training.checkpoints(info)
    while training.step < options.steps:
        group.go_on()
        loss = training.one_step(parallel, info.rank, info.world_size)
        if training.step % REPORT_EVERY_STEPS == 0:
            elastic_run.report_progress(step=training.step, loss=loss)
            if info.rank == 0:
                say(f"step {training.step}: loss {loss:.4f}")
        if info.rank == 0 and checkpoints and checkpoints.should_save(training.step):
            checkpoints.save(training.step, training.state())
    if info.rank == 0 and checkpoints:
        checkpoints.save(training.step, training.state())


def say(text):
    print(f"pid {os.getpid()} {text}", flush=True)


@elastic_run.record
def main():
    training = Training(options)
    checkpoints = training.checkpoints()
    if checkpoints:
        training.load(checkpoints.load_latest(training.state()).state)
        say(f"checkpoint read: step {training.step}")
    is_survivor = False
    for attempt in range(options.attempts):
        info = elastic_run.wait_for_work()
        try:
            with RoundGroup(info) as group:
                agree_on_state(training, is_survivor, info)
                is_survivor = True
                say(f"round {info.round}: rank {info.rank} of {info.world_size} at step {training.step}")
                train_in_round(group, training, info)
            break
        except RuntimeError as error:
            if attempt == options.attempts - 1:
                raise
            say(f"round {info.round} is over for rank {info.rank} at step {training.step}: {error}")
    if info.rank == 0:
        say(f"final accuracy {training.accuracy():.4f} after {training.step} steps")


main()
