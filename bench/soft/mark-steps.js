// Loaded before an example (--import): appends to the file that MARKS names, in the
// form of worker.c, "start" and for each step "step" with its number
// and the round.
import { appendFileSync } from "node:fs";
import { Training } from "../../examples/training.js";

const { MARKS = "", RANK, WORLD_SIZE } = process.env;
const { step } = Training.prototype;
mark("start", { rank: RANK, worldSize: WORLD_SIZE, round: 0 }, 0);

Training.prototype.step = async function (worker, group) {
	const loss = await step.call(this, worker, group);
	mark("step", worker, this.state.step);
	return loss;
};

function mark(event, { rank, worldSize, round }, figure) {
	const nanoseconds =
		BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e3)) *
		1_000n;
	appendFileSync(
		MARKS,
		`${event} ${nanoseconds} ${process.pid} ${rank} ${worldSize} ${figure} ${round}\n`,
	);
}
