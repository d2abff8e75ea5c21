import { MemoryStore } from "../../src/store/memory-store.js";
import type {
	Compare,
	ReadBack,
	TransactionResult,
	Write,
} from "../../src/store/store.js";

/** Whether an agent's lease takes this key away when the agent is gone. */
export function isLeased(key: string): boolean {
	return key.endsWith("/coordinator") || key.includes("/nodes/");
}

/** A store in which a test need not open a lease for what somebody else is to have written. */
export class LeasedStore extends MemoryStore {
	private other: Promise<string> | undefined;

	override async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult> {
		const mustLease = (write: Write) =>
			"put" in write && write.lease === undefined && isLeased(write.put);
		if (!writes.some(mustLease)) {
			return super.transaction(compares, writes, reads);
		}
		this.other ??= this.openLease(1_000).then(({ id }) => id);
		const lease = await this.other;
		const leased = writes.map((write) =>
			mustLease(write) ? { ...write, lease } : write,
		);
		return super.transaction(compares, leased, reads);
	}
}
