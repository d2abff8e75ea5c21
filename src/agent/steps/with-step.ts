import type { AgentInput } from "../machine/inputs.js";
import type { StepWatch } from "./step-watch.js";

/** Adds to a worker's failure how far it had come. */
export function withStep(
	input: AgentInput,
	steps: Pick<StepWatch, "stepOf">,
): AgentInput {
	const isFailure = input.kind === "worker-exited" && input.exitCode !== 0;
	return isFailure && !input.exit.signalledByAgent
		? { ...input, step: steps.stepOf(input.localRank) }
		: input;
}
