# elastic-run --nproc-per-node 4 examples/hello.py
import os

rank, world_size = os.environ["RANK"], os.environ["WORLD_SIZE"]
round = os.environ.get("ELASTIC_RUN_ROUND", "1")
print(f"hello from rank {rank} of {world_size} in round {round}")
