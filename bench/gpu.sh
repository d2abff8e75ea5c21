#!/bin/bash
# What a GPU's user meets: NCCL, a Trainer with bf16, warm restarts, faults of the device. At most five minutes.
# Usage: [PYTHON=…] [NODE=…] [CLI=…] bash bench/gpu.sh > table.md
#   PYTHON has torch, and perhaps transformers and accelerate; NODE and CLI travel with this folder where the machine has
#   none: dist/bin/elastic-run.js of a build, or dist/launcher of the package. Without a GPU it plays on the CPU with gloo.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export NODE=${NODE:-node} PYTHON=${PYTHON:-python3} CLI=${CLI:-$here/../dist/bin/elastic-run.js}
exec timeout --kill-after=10 300 "$PYTHON" "$here/gpu/play.py"
