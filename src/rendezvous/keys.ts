/** Below it lie the keys of all runs. */
export const ALL_RUNS = "/elastic-run/";

/** So many that round numbers in keys have one length, and keys the order of rounds. */
const ROUND_DIGITS = 10;

/** The keys of one run; what each says is in docs/rendezvous.md. */
export class RunKeys {
	readonly prefix: string;

	constructor(runId: string) {
		this.prefix = `${ALL_RUNS}${runId}/`;
	}

	/** Selects all that says where the run stands: everything but its history, which may be long. */
	get present(): readonly string[] {
		const { round, coordinator, waiting, spec } = this;
		const { nodes, seats, finished, budgets } = this;
		return [
			...[round, coordinator, waiting, spec],
			...[nodes, seats, finished, budgets],
		];
	}

	/** Selects what a coordinator plans by, in a round that it knows of. */
	coordinating(synced: number): readonly string[] {
		return [...this.present, this.historyOf(synced)];
	}

	/** Selects what an agent goes by in its own doings, coordinating apart. */
	seenBy(nodeId: string): readonly string[] {
		const { round, coordinator, waiting } = this;
		return [
			...[round, coordinator, waiting],
			...[this.seat(nodeId), this.node(nodeId)],
		];
	}

	get round(): string {
		return `${this.prefix}round`;
	}

	get coordinator(): string {
		return `${this.prefix}coordinator`;
	}

	get spec(): string {
		return `${this.prefix}spec`;
	}

	/** Written by each try to make a plan that takes several transactions: see `Coordinator`. */
	get lifting(): string {
		return `${this.prefix}lifting`;
	}

	get waiting(): string {
		return `${this.prefix}waiting`;
	}

	get nodes(): string {
		return `${this.prefix}nodes/`;
	}

	get seats(): string {
		return `${this.prefix}seats/`;
	}

	get finished(): string {
		return `${this.prefix}finished/`;
	}

	get budgets(): string {
		return `${this.prefix}budgets/`;
	}

	get history(): string {
		return `${this.prefix}history/`;
	}

	node(nodeId: string): string {
		return this.nodes + nodeId;
	}

	seat(nodeId: string): string {
		return this.seats + nodeId;
	}

	finishedBy(nodeId: string): string {
		return this.finished + nodeId;
	}

	budget(nodeId: string): string {
		return this.budgets + nodeId;
	}

	historyOf(round: number): string {
		return this.history + String(round).padStart(ROUND_DIGITS, "0");
	}
}
