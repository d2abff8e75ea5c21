"""Trains a small network on handwritten digits with PyTorch's DistributedDataParallel, as a script for
torchrun does, and keeps checkpoints with elastic-run's library, which works under both.

    npm ci
    elastic-run --nnodes 1:4 --nproc-per-node 2 examples/torch_ddp.py --checkpoint digits
"""
import argparse
import os

import elastic_run
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from torch_training import Training, add_options

REPORT_EVERY_STEPS = 20


def say(text):
    print(f"pid {os.getpid()} {text}", flush=True)


@elastic_run.record
def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    options = parser.parse_args()

    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    training = Training(options)
    checkpoints = training.checkpoints()
    if checkpoints:
        training.load(checkpoints.load_latest(training.state()).state)
    say(f"rank {rank} of {world_size} begins at step {training.step}")
    parallel = DistributedDataParallel(training.model)
    while training.step < options.steps:
        loss = training.one_step(parallel, rank, world_size)
        if rank == 0 and training.step % REPORT_EVERY_STEPS == 0:
            say(f"step {training.step}: loss {loss:.4f}")
        if rank == 0 and checkpoints and checkpoints.should_save(training.step):
            checkpoints.save(training.step, training.state())
    if rank == 0:
        if checkpoints:
            checkpoints.save(training.step, training.state())
        say(f"final accuracy {training.accuracy():.4f} after {training.step} steps")
    # Whoever leaves first must not break what the others still wait for.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
