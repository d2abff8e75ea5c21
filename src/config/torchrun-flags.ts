/** A torchrun flag without a meaning here. */
export interface ForeignFlag {
	/** Without the leading dashes. */
	readonly name: string;
	/** Undefined for a switch. */
	readonly argument?: "VALUE";
	/** What to use here instead; undefined: nothing is needed, and the flag is ignored. */
	readonly instead?: string;
}

export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
	{ name: "monitor-interval", argument: "VALUE" },
	{ name: "start-method", argument: "VALUE" },
	{ name: "run-path" },
	{ name: "event-log-handler", argument: "VALUE" },
	{ name: "logs-specs", argument: "VALUE" },
	{ name: "duplicate-stdout-filters", argument: "VALUE" },
	{ name: "duplicate-stderr-filters", argument: "VALUE" },
	{
		name: "numa-binding",
		argument: "VALUE",
		instead:
			"put numactl before the command: elastic-run [options] numactl … python3 train.py",
	},
	{
		name: "virtual-local-rank",
		instead: "choose the device in the script by LOCAL_RANK",
	},
];

/** One warning for all ignored flags; undefined if there were none. */
export function ignoredFlagsWarning(
	names: readonly string[],
): string | undefined {
	if (names.length === 0) return undefined;
	const [have, are] = names.length === 1 ? ["has", "is"] : ["have", "are"];
	return `${names.join(", ")} ${have} no meaning here and ${are} ignored`;
}
