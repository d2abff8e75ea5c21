import type { LinkAddress } from "../../model/index.js";
import type {
	NodeFailure,
	NodeState,
	NoticeRecord,
	Reached,
	RoleTerms,
} from "./records.js";

/** The facts about an agent that stay the same while its process lives. */
export interface AgentIdentity {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly hostId: string;
	readonly pid: number;
	readonly startTime: string;
	/** These two as in `NodeRecord`. */
	readonly machineId?: string | undefined;
	readonly network?: string | undefined;
	readonly address: string;
	readonly localWorldSize: number;
	readonly role: string;
	/** What it asks for its role; undefined: nothing. */
	readonly terms?: RoleTerms | undefined;
	readonly nodeRank?: number | undefined;
	/** The process whose place it takes. */
	readonly succeeds?: string | undefined;
	/** As in `NodeRecord`. */
	readonly leaseTtlMs?: number | undefined;
	readonly link?: LinkAddress | undefined;
}

/** What follows when an agent leaves: it is started again, or its node is replaced. */
export type Departure = "recreated" | "replaced";

/** The intended content of an agent's record. */
export interface Intent {
	readonly state: NodeState;
	readonly claim: number;
	readonly failure: NodeFailure | null;
	readonly fencedIn?: number | undefined;
	readonly cause: string | null;
	readonly awaitsWorkersMs?: number | undefined;
	readonly isAsked?: boolean | undefined;
	/** Why its machine will go; undefined if it stays. */
	readonly notice?: NoticeRecord | undefined;
	/** What follows its leaving; written together with state `leaving`. */
	readonly departure?: Departure | undefined;
	/** It is ready while its workers run on. */
	readonly runsOn?: boolean | undefined;
	/** The plan that it has finished; written together with state `finished`. */
	readonly finishedPlan: string | null;
	/** Its workers by local rank, if there are any; null: not started. */
	readonly pids: readonly (number | null)[];
	/** How far its workers came in the round that it has left; undefined if they count no steps, or still run. */
	readonly reached?: Reached | undefined;
	/** When it entered this state, in milliseconds since 1970. */
	readonly since: number;
	/** Since when its workers ran in the round that it has left; undefined as `ranUntil` is. */
	readonly ranSince?: number | undefined;
	/** Until when its workers ran in the round that it has left; undefined if it has not run, or still runs. */
	readonly ranUntil?: number | undefined;
}

/** An intent without what the shell adds. */
export type NewIntent = Omit<
	Intent,
	"since" | "ranSince" | "ranUntil" | "reached"
>;
