// elastic-run --nproc-per-node 4 examples/hello.js
import { getWorkerInfo } from "elastic-run/runtime";

const { rank, worldSize, round } = getWorkerInfo();
console.log(`hello from rank ${rank} of ${worldSize} in round ${round}`);
