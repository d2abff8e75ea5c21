/** A torchrun flag without a meaning here. */
export interface ForeignFlag {
	/** Without the leading dashes. */
	readonly name: string;
	readonly takesValue: boolean;
	/** What to use here instead; undefined: nothing is needed, and the flag is ignored. */
	readonly instead?: string;
}

export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
	{ name: "monitor-interval", takesValue: true },
	{ name: "start-method", takesValue: true },
	{ name: "run-path", takesValue: false },
	{ name: "event-log-handler", takesValue: true },
	{ name: "logs-specs", takesValue: true },
	{ name: "duplicate-stdout-filters", takesValue: true },
	{ name: "duplicate-stderr-filters", takesValue: true },
	{
		name: "numa-binding",
		takesValue: true,
		instead:
			"put numactl before the command: elastic-run [options] numactl … python3 train.py",
	},
	{
		name: "virtual-local-rank",
		takesValue: false,
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
