/** The prefix of all runs' keys. */
export const ALL_RUNS = "/elastic-run/";

/** Pads round numbers in keys to one length, so that keys sort by round. */
const ROUND_DIGITS = 10;

/** The keys of one run, described in docs/store-keys.md. A key that ends with "/" is a prefix. */
export class RunKeys {
	readonly prefix: string;
	readonly round: string;
	readonly coordinator: string;
	readonly spec: string;
	/** Written by each try at a plan of several transactions: see `Coordinator`. */
	readonly lifting: string;
	readonly waiting: string;
	readonly lived: string;
	readonly nodes: string;
	readonly seats: string;
	readonly finished: string;
	readonly budgets: string;
	/** Members whose agents have ended to be started again. */
	readonly recreated: string;
	/** Members that have left in order: their leases do not tell that from a loss. */
	readonly left: string;
	readonly replaced: string;
	readonly history: string;
	/** What each node did in each round, for the ledger of time. No agent watches it. */
	readonly ledger: string;
	/** How far the agents' workers have come. No agent watches it. */
	readonly progress: string;
	/** What the nodes of a round that hangs have found out. No agent watches it. */
	readonly evidence: string;
	/** What each node found out about itself before it joined. No agent watches it. */
	readonly preflights: string;
	/** Questions to all agents: what their workers do. */
	readonly asked: string;
	/** The agents' answers to them, apart from the evidence of a hang: one must not replace the other. */
	readonly answers: string;

	constructor(runId: string) {
		const prefix = `${ALL_RUNS}${runId}/`;
		this.prefix = prefix;
		this.round = `${prefix}round`;
		this.coordinator = `${prefix}coordinator`;
		this.spec = `${prefix}spec`;
		this.lifting = `${prefix}lifting`;
		this.waiting = `${prefix}waiting`;
		this.lived = `${prefix}lived`;
		this.nodes = `${prefix}nodes/`;
		this.seats = `${prefix}seats/`;
		this.finished = `${prefix}finished/`;
		this.budgets = `${prefix}budgets/`;
		this.recreated = `${prefix}recreated/`;
		this.left = `${prefix}left/`;
		this.replaced = `${prefix}replaced/`;
		this.history = `${prefix}history/`;
		this.ledger = `${prefix}ledger/`;
		this.progress = `${prefix}progress/`;
		this.evidence = `${prefix}evidence/`;
		this.preflights = `${prefix}preflights/`;
		this.asked = `${prefix}asked/`;
		this.answers = `${prefix}answers/`;
	}

	/** Selects all about the present state of the run: everything except its history, which may be long. */
	get present(): readonly string[] {
		const { round, coordinator, waiting, lived, spec, nodes } = this;
		const ofRun = [round, coordinator, waiting, lived, spec];
		return [...ofRun, nodes, ...this.ofOneStart];
	}

	/** What belongs to one start of the run, and is deleted before the next. */
	get ofOneStart(): readonly string[] {
		const { seats, finished, budgets, recreated, left, replaced } = this;
		return [seats, finished, budgets, recreated, left, replaced];
	}

	/** Selects the records from which a coordinator plans, given the round that it knows. */
	coordinating(synced: number): readonly string[] {
		return [...this.present, this.historyOf(synced)];
	}

	/** Selects the records on which an agent acts, apart from coordinating. */
	seenBy(nodeId: string): readonly string[] {
		const { round, coordinator, waiting } = this;
		return [round, coordinator, waiting, this.seat(nodeId), this.node(nodeId)];
	}

	/** A request to this node to leave. Only that node's agent watches it. */
	drainOf(nodeId: string): string {
		return `${this.prefix}drains/${nodeId}`;
	}

	ledgerOfRound(round: number): string {
		return `${this.ledger}${padded(round)}/`;
	}

	ledgerOf(round: number, nodeId: string): string {
		return this.ledgerOfRound(round) + nodeId;
	}

	progressOf(nodeId: string): string {
		return this.progress + nodeId;
	}

	evidenceOf(nodeId: string): string {
		return this.evidence + nodeId;
	}

	/** What workers of a command import, by a digest of the command. No agent watches it while it has workers. */
	learnedBy(digest: string): string {
		return `${this.prefix}learned/${digest}`;
	}

	preflightOf(nodeId: string): string {
		return this.preflights + nodeId;
	}

	question(id: string): string {
		return this.asked + id;
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
