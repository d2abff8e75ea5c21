import type { RoundView } from "../records/round-view.js";
import type { OnLeaseLost } from "./lease-guard.js";

/** Hears about the run from the start of a membership on. */
export interface MembershipListener {
	/** Called with the present view and each change. */
	readonly onView: (view: RoundView) => void;
	/** Its workers must be dead by the given time. Meanwhile it rejoins by itself. */
	readonly onLost: OnLeaseLost;
	/** Called with the error that ends this agent's part in the run. */
	readonly onError: (error: unknown) => void;
}
