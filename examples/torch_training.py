"""What the PyTorch examples train, apart from how their workers live: the state, and one step of it
after another. Each step goes over one batch of handwritten digits, divided among the workers."""
import gzip
import os

import torch
from elastic_run import checkpoint
from torch.nn.functional import cross_entropy

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.gz")
PIXELS = 28 * 28


def add_options(parser):
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=128, help="examples in a step, divided among the workers")
    parser.add_argument("--checkpoint", help="a folder that all nodes see; none unless given")
    parser.add_argument("--checkpoint-every", type=int, default=100, metavar="STEPS", help="at most")
    parser.add_argument("--digits", default=os.environ.get("DIGITS", DIGITS), help="ten thousand images: a byte for the digit, then a byte a pixel")


class Training:
    """All that is needed to go on, and one step of it after another."""

    def __init__(self, options):
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(PIXELS, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.step = 0
        self.options = options
        images, labels = load_digits(options.digits)
        is_test = torch.arange(len(labels)) // 10 % 5 == 4  # The ten digits take turns: each fifth of each.
        self.training = images[~is_test], labels[~is_test]
        self.test = images[is_test], labels[is_test]

    def state(self):
        return {"step": self.step, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state):
        self.step = state["step"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def checkpoints(self, token=None):
        """Those of a round, by default the one in which this process began; None unless they are wanted."""
        options = self.options
        return options.checkpoint and checkpoint.open(options.checkpoint, token=token, max_steps=options.checkpoint_every)

    def one_step(self, parallel, rank, world_size):
        """Returns the loss of this worker's share of the batch."""
        images, labels = self.training
        size = self.options.batch
        epoch, position = divmod(self.step, len(labels) // size)
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        batch = order[position * size :][:size]
        share = batch[rank::world_size]
        self.optimizer.zero_grad()
        loss = cross_entropy(parallel(images[share]), labels[share], reduction="sum") / size
        # The gradients are averaged over the workers: times their number, that is the batch's own.
        (loss * world_size).backward()
        self.optimizer.step()
        self.step += 1
        return loss.item() * len(batch) / max(1, len(share))

    def accuracy(self):
        images, labels = self.test
        with torch.no_grad():
            return (self.model(images).argmax(1) == labels).double().mean().item()


def load_digits(path):
    """Images as rows of numbers from 0 to 1, and what they show."""
    with gzip.open(path) as file:
        examples = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(-1, 1 + PIXELS)
    return examples[:, 1:].float() / 255, examples[:, 0].long()
