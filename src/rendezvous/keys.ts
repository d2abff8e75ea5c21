/** The keys of one run; what each says is in docs/rendezvous.md. */
export class RunKeys {
	readonly prefix: string;

	constructor(runId: string) {
		this.prefix = `/elastic-run/${runId}/`;
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
}
