import { formatCount } from "../../base/units.js";
import {
	type NodePhase,
	stepNoun,
	stepsInWords,
	type WorkerDocument,
	type WorkerStatus,
} from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { PhaseSign, Section } from "./parts.js";
import { ago, plain } from "./words.js";

/** Workers' states use the nodes' signs. */
const PHASES: Readonly<Record<WorkerDocument["state"], NodePhase>> = {
	starting: "joining",
	running: "running",
	pausing: "stopping",
	paused: "paused",
	stopping: "stopping",
	ended: "gone",
};

/** Of the numbers that a worker reports with a step. */
const MOST_NUMBERS = 3;

/** The workers of the answering node, each with its last lines. */
export function Workers({ document, model }: SectionProps) {
	const { workers, nodeId, pid, phase, since } = document.node;
	const nodes = document.run?.nodes ?? [];
	const steps = nodes.find((node) => node.nodeId === nodeId)?.workers ?? [];
	const note = `${formatCount(workers.length, "worker")}; launcher ${pid}, ${phase.toLowerCase()}, since ${ago(since, model.now)}`;
	return (
		<Section id="workers" title={`Workers of ${nodeId}`} note={note}>
			{workers.length === 0 && <small>It has no workers at present.</small>}
			<ul class="workers">
				{workers.map((worker) => (
					<Worker
						key={worker.localRank}
						worker={worker}
						steps={steps.find((one) => one.localRank === worker.localRank)}
						now={model.now}
					/>
				))}
			</ul>
		</Section>
	);
}

function Worker(props: {
	readonly worker: WorkerDocument;
	readonly steps: WorkerStatus | undefined;
	readonly now: number;
}) {
	const { worker, steps, now } = props;
	const { localRank, rank, role, pid, state, since } = worker;
	const lines = worker.lastLines.map(plain);
	const roleWords = role === "default" ? "" : `, ${role}`;
	return (
		<li>
			<details>
				<summary>
					<strong>{`rank ${rank}`}</strong>
					<span>
						<PhaseSign phase={PHASES[state]} />
						{state}
					</span>
					<small>
						{`${ago(since, now)}, pid ${pid ?? "–"}`}
						<span class="wide">{`, local rank ${localRank}${roleWords}`}</span>
					</small>
					{steps && <small>{progressInWords(steps)}</small>}
					<code>{lines.at(-1) ?? "no output yet"}</code>
				</summary>
				<pre>{lines.join("\n")}</pre>
			</details>
		</li>
	);
}

/** "step 1234 (2.5/s), loss 0.25". */
function progressInWords(steps: WorkerStatus): string {
	const numbers = Object.entries(steps.metrics)
		.slice(0, MOST_NUMBERS)
		.map(([name, value]) => `, ${name} ${Number(value.toPrecision(4))}`);
	const noun = stepNoun([steps.stepSource]);
	return plain(`${noun} ${stepsInWords([steps])}${numbers.join("")}`);
}
