"""Imports and uses what its second argument names, makes a step, says so, and waits. In the first round it is to be killed."""
import os
import sys
import time

name = sys.argv[1]


def stepped():
    import elastic_run

    elastic_run.report_progress(step=1)
    print("round %s: step at %d by %d" % (os.environ["ELASTIC_RUN_ROUND"], time.time() * 1000, os.getpid()), flush=True)
    time.sleep(600)


def train(compiled=False, **loading):
    import torch

    rows = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    model = torch.nn.Linear(4, 1)
    used = torch.compile(model, backend="eager") if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch, _ in torch.utils.data.DataLoader(rows, batch_size=8, **loading):
        used(batch).sum().backward()
        optimizer.step()
        stepped()


def tqdm():
    import numpy  # noqa: F401
    import torch  # noqa: F401
    import tqdm  # noqa: F401

    train()


def trainer():
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, rows, labels):
            return {"loss": (self.layer(rows).squeeze(-1) - labels).square().mean()}

    class Steps(TrainerCallback):
        def on_step_end(self, *_, **__):
            stepped()

    rows = [{"rows": torch.ones(4), "labels": torch.tensor(1.0)}] * 64
    arguments = TrainingArguments(output_dir="out", max_steps=9, report_to=[], use_cpu=True, save_strategy="no")
    Trainer(model=Net(), args=arguments, train_dataset=rows, callbacks=[Steps()]).train()


def accelerate():
    import accelerate
    import torch

    accelerator = accelerate.Accelerator(cpu=True)
    model = torch.nn.Linear(4, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    accelerator.backward(model(torch.ones(4)).sum())
    optimizer.step()
    stepped()


def lightning():
    import lightning
    import torch

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch):
            return self.layer(batch).square().mean()

        def on_train_batch_end(self, *_):
            stepped()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(accelerator="cpu", devices=1, max_steps=9, **quiet)
    trainer.fit(Net(), torch.utils.data.DataLoader(torch.ones(64, 4)))


def datasets():
    import pyarrow  # noqa: F401
    from datasets import Dataset

    rows = Dataset.from_dict({"rows": [1.0] * 64})
    assert len(rows.map(lambda row: {"rows": row["rows"] + 1})) == 64
    train()


def trl():
    from trl import SFTConfig, SFTTrainer  # noqa: F401

    train()


def science():
    import matplotlib.pyplot
    import pandas
    from sklearn.linear_model import LinearRegression

    frame = pandas.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
    LinearRegression().fit(frame[["x"]], frame["y"])
    matplotlib.pyplot.figure()
    train()


def tensorboard():
    from torch.utils.tensorboard import SummaryWriter

    SummaryWriter("board").add_scalar("loss", 1.0, 1)
    train()


def wandb():
    import torch  # noqa: F401
    import wandb

    wandb.init(mode="offline", project="bench")
    train()


def compiled():
    train(compiled=True)


def forked():
    train(num_workers=4)


def spawned():
    train(num_workers=4, multiprocessing_context="spawn")


if __name__ == "__main__":
    globals()[name]()
