/** The prefix of all runs' keys. */
export const ALL_RUNS = "/elastic-run/";

/** Pads round numbers in keys to one length, so that keys sort by round. */
const ROUND_DIGITS = 10;

/** The keys of one run, described in docs/store-keys.md. */
export class RunKeys {
	readonly prefix: string;

	constructor(runId: string) {
		this.prefix = `${ALL_RUNS}${runId}/`;
	}

	/** Selects all about the present state of the run: everything except its history, which may be long. */
	get present(): readonly string[] {
		const { round, coordinator, waiting, spec } = this;
		return [round, coordinator, waiting, spec, this.nodes, ...this.ofOneStart];
	}

	/** Selects the records from which a coordinator plans, given the round that it knows. */
	coordinating(synced: number): readonly string[] {
		return [...this.present, this.historyOf(synced)];
	}

	/** Selects the records on which an agent acts, apart from coordinating. */
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

	/** Written by each try at a plan of several transactions: see `Coordinator`. */
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

	/** A request to this node to leave. Only that node's agent watches it. */
	drainOf(nodeId: string): string {
		return `${this.prefix}drains/${nodeId}`;
	}

	/** Members whose agents have ended to be started again. */
	get recreated(): string {
		return `${this.prefix}recreated/`;
	}

	/** Members that have left in order: their leases do not tell that from a loss. */
	get left(): string {
		return `${this.prefix}left/`;
	}

	/** Nodes that are to be replaced. */
	get replaced(): string {
		return `${this.prefix}replaced/`;
	}

	/** What belongs to one start of the run, and is deleted before the next. */
	get ofOneStart(): readonly string[] {
		const { seats, finished, budgets, recreated, left, replaced } = this;
		return [seats, finished, budgets, recreated, left, replaced];
	}

	get history(): string {
		return `${this.prefix}history/`;
	}

	/** What each node did in each round, for the ledger of time. No agent watches it. */
	get ledger(): string {
		return `${this.prefix}ledger/`;
	}

	ledgerOfRound(round: number): string {
		return `${this.ledger}${padded(round)}/`;
	}

	ledgerOf(round: number, nodeId: string): string {
		return this.ledgerOfRound(round) + nodeId;
	}

	/** How far the agents' workers have come. No agent watches it. */
	get progress(): string {
		return `${this.prefix}progress/`;
	}

	progressOf(nodeId: string): string {
		return this.progress + nodeId;
	}

	/** What the nodes of a round that hangs have found out. No agent watches it. */
	get evidence(): string {
		return `${this.prefix}evidence/`;
	}

	evidenceOf(nodeId: string): string {
		return this.evidence + nodeId;
	}

	/** What workers of a command import, by a digest of the command. No agent watches it while it has workers. */
	learnedBy(digest: string): string {
		return `${this.prefix}learned/${digest}`;
	}

	/** What each node found out about itself before it joined. No agent watches it. */
	get preflights(): string {
		return `${this.prefix}preflights/`;
	}

	preflightOf(nodeId: string): string {
		return this.preflights + nodeId;
	}

	/** Questions to all agents: what their workers do. */
	get asked(): string {
		return `${this.prefix}asked/`;
	}

	question(id: string): string {
		return this.asked + id;
	}

	/** The agents' answers to them, apart from the evidence of a hang: one must not replace the other. */
	get answers(): string {
		return `${this.prefix}answers/`;
	}

	answerOf(nodeId: string): string {
		return this.answers + nodeId;
	}

	/** The command of a role's workers. */
	command(role: string): string {
		return `${this.prefix}commands/${role}`;
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

	replacedNode(nodeId: string): string {
		return this.replaced + nodeId;
	}

	recreatedBy(nodeId: string): string {
		return this.recreated + nodeId;
	}

	leftBy(nodeId: string): string {
		return this.left + nodeId;
	}

	historyOf(round: number): string {
		return this.history + padded(round);
	}
}

function padded(round: number): string {
	return String(round).padStart(ROUND_DIGITS, "0");
}
