"""A Trainer of transformers with bf16, a model of a few thousand weights, and data of its own."""
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

rows = [{"input_ids": [n % 50] * 16, "labels": [n % 50] * 16} for n in range(256)]
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=32, n_layer=1, n_head=2))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, bf16=True, max_steps=20, report_to=[], save_strategy="no", disable_tqdm=True)
    Trainer(model, arguments, train_dataset=rows).train()
print("trained on", "cuda" if torch.cuda.is_available() else "cpu", file=sys.stderr)
