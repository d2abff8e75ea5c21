// Makes 100 steps a second, and prints lines if it is told to, until it is ended. Usage: worker.js FILE HOW LINES
// FILE gets its pid; HOW is `hook`: steps as the launcher's hook in PyTorch counts them, or `report`: by reportProgress;
// LINES are printed each second.
import { appendFileSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { reportProgress } from "elastic-run/runtime";

const TICK_MS = 10;
const [file, how, lines] = process.argv.slice(2);
const linesPerTick = (Number(lines) * TICK_MS) / 1_000;
const startedAt = performance.now();
let steps = 0;
let printed = 0;
let stepsFile;

appendFileSync(file, `${process.pid}\n`);
setInterval(() => {
	const due = Math.floor((performance.now() - startedAt) / TICK_MS);
	while (steps < due) {
		steps += 1;
		makeStep();
	}
	let text = "";
	for (; printed < due * linesPerTick; printed += 1) {
		text += `epoch 1 loss 0.123456 lr 0.001 tokens ${printed} of a line as trainers print\n`;
	}
	if (text !== "") process.stdout.write(text);
}, TICK_MS);

function makeStep() {
	if (how === "report") {
		reportProgress({ step: steps, loss: 1 / steps });
		return;
	}
	stepsFile ??= openSync(
		join(process.env.ELASTIC_RUN_HOOK ?? "", "steps"),
		"w",
	);
	writeSync(stepsFile, String(steps).padStart(20), 0);
}
