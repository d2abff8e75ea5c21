/** The longest way of one message where nothing is disturbed, in milliseconds. */
export const SLOWEST_WAY_MS = 60;

/** One process's way to the store; the faults of a run change it for a time. */
export interface Link {
	/** What the process sends does not arrive. */
	requestsLost: boolean;
	/** What the store sends does not arrive; what was asked for may have been done. */
	answersLost: boolean;
	/** Watches tell nothing. */
	deaf: boolean;
	/** The part of calls that fail; they may be carried out all the same, even late. */
	failing: number;
	/** Those that fail are all carried out, late. */
	late: boolean;
	/** How many times as long a message takes. */
	slowness: number;
}

export function openLink(): Link {
	return {
		requestsLost: false,
		answersLost: false,
		deaf: false,
		failing: 0,
		late: false,
		slowness: 1,
	};
}
