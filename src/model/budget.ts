/** How many failures a budget allows, and in what time. */
export interface RestartLimit {
	readonly restarts: number;
	/** Only what was charged in the last so many milliseconds counts; 0: all. */
	readonly windowMs: number;
}
