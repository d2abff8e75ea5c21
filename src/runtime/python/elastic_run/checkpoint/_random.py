"""The state of the generators of random numbers, of the libraries that are imported."""
from __future__ import annotations

import random
import sys
from importlib import import_module
from typing import Any


def rng_state() -> dict[str, Any]:
    """The state of Python's random, and of numpy's and torch's (on the CPU, and on CUDA where it is in
    use) if they are imported: plain values and tensors, to be saved."""
    state: dict[str, Any] = {"random": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found = numpy.random.get_state(legacy=False)
        key = found["state"]["key"].tobytes()
        state["numpy"] = {**found, "state": {"key": key, "pos": int(found["state"]["pos"])}}
    if torch is not None:
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def restore_rng_state(state: dict[str, Any]) -> None:
    """Sets what `rng_state` returned; what the state lacks stays as it is."""
    version, internal, gauss = state["random"]
    random.setstate((version, tuple(internal), gauss))
    if "numpy" in state:
        numpy = import_module("numpy")
        found = state["numpy"]
        key = numpy.frombuffer(found["state"]["key"], dtype=numpy.uint32)
        numpy.random.set_state({**found, "state": {"key": key, "pos": found["state"]["pos"]}})
    if "torch" in state:
        torch = import_module("torch")
        torch.set_rng_state(state["torch"].cpu())
        if "cuda" in state and torch.cuda.is_available():
            torch.cuda.set_rng_state_all([one.cpu() for one in state["cuda"]])
