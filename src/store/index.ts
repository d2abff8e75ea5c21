export { LateWatch } from "./late-watch.js";
export { MemoryStore } from "./memory-store.js";
export type {
	Compare,
	Entry,
	Lease,
	LeaseId,
	OnHint,
	ReadBack,
	Reader,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "./store.js";
