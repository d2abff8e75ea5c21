"""The trainer of torchelastic's RFC on soft restarts, on handwritten digits. It keeps its process, and
what it has learned, while others go and come:

    elastic-run --restart-policy soft --nnodes 1:4 --nproc-per-node 2 examples/rfc_trainer.py

Where the world changes a collective fails, or the check before a step says so. The trainer then asks
for its place and makes a new group. It needs torch and numpy.
"""
import argparse
import os
import time

import elastic_run
import torch
import torch.distributed as dist
from torch_training import Training, add_options

REPORT_EVERY_STEPS = 20

parser = argparse.ArgumentParser()
add_options(parser)
parser.add_argument("--attempts", type=int, default=100, help="to train to the end")
parser.add_argument("--poll", action="store_true", help="ask until the pause is over, instead of joining the next group at once")
options = parser.parse_args()


def do_train(state):
    """One step, unless the world changes."""
    event = elastic_run.get_worker_event()
    if event.worker_state == elastic_run.WorkerState.PAUSED or event.round != worker_info.round:
        raise RuntimeError(f"the world changes: {event.reason}")
    loss = state.one_step(state.model, dist.get_rank(), dist.get_world_size())
    if dist.get_rank() == 0 and state.step % REPORT_EVERY_STEPS == 0:
        say(f"step {state.step}: loss {loss:.4f}")


def average_gradients(optimizer, *_):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()


def share(state):
    """All go on from the one that has come furthest: a new process from a survivor's memory, and a
    survivor that failed in a step from one that ended it."""
    steps = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(steps, torch.tensor([state.step]))
    source = steps.index(max(steps))
    newest = [state.state() if dist.get_rank() == source else None]
    dist.broadcast_object_list(newest, source)
    state.load(newest[0])


def log_failure(state, error):
    place = f"round {worker_info.round} is over for rank {dist.get_rank()}"
    say(f"{place} at step {state.step}: {type(error).__name__}: {error}")


def reset(worker_info):
    while options.poll and elastic_run.get_worker_event().worker_state == elastic_run.WorkerState.PAUSED:
        time.sleep(0.05)


def say(text):
    print(f"pid {os.getpid()} {text}", flush=True)


state = Training(options)
state.optimizer.register_step_pre_hook(average_gradients)
worker_info = elastic_run.get_worker_info()
local_attempts = 0
while local_attempts < options.attempts:
    local_attempts += 1
    try:
        dist.init_process_group(
            backend="gloo",
            **worker_info.get_pg_parameters(),  # rank, world_size, master info
        )
        share(state)
        worker_info = elastic_run.get_worker_info()
        say(f"round {worker_info.round}: rank {dist.get_rank()} of {dist.get_world_size()} at step {state.step}")
        while state.step < options.steps:
            do_train(state)
        if dist.get_rank() == 0:
            say(f"final accuracy {state.accuracy():.4f} after {state.step} steps")
        break
    except Exception as error:
        log_failure(state, error)
        dist.destroy_process_group()
        worker_info = elastic_run.get_worker_info()
        reset(worker_info)
