import type { AgentInput } from "./machine/inputs.js";

/** Keeps the inputs for an agent that is not there yet. */
export class EarlyInputs {
	private readonly waiting: AgentInput[] = [];
	private take: ((input: AgentInput) => void) | undefined;

	readonly dispatch = (input: AgentInput): void => {
		if (this.take === undefined) this.waiting.push(input);
		else this.take(input);
	};

	/** From now on inputs go to this agent, those that have waited first. */
	passTo(take: (input: AgentInput) => void): void {
		this.take = take;
		for (const input of this.waiting.splice(0)) take(input);
	}
}
