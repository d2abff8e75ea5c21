/** A flag of torchrun's that has no meaning here. */
export interface ForeignFlag {
	/** Without the leading dashes. */
	readonly name: string;
	readonly short?: string;
	readonly takesValue: boolean;
	/** What to do here for the same end. */
	readonly instead: string;
	/** What follows it is no command that could be looked for. */
	readonly hidesCommand?: boolean;
}

const ETCD = "nodes meet through etcd: use --rdzv-endpoint HOST:2379";
const RANKS = "ranks follow from who joins: use --node-id to name a node";
const FILTER = "use --local-ranks-filter, or filter the files of --log-dir";

export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
	{ name: "node-rank", takesValue: true, instead: RANKS },
	{
		name: "master-addr",
		takesValue: true,
		instead: `${ETCD}; a node's own address is --local-addr`,
	},
	{
		name: "master-port",
		takesValue: true,
		instead: `a free port is chosen for each round; ${ETCD}`,
	},
	{
		name: "monitor-interval",
		takesValue: true,
		instead: "an exit is noticed at once; leave it out",
	},
	{
		name: "start-method",
		takesValue: true,
		instead: "workers are always separate programs; leave it out",
	},
	{
		name: "module",
		short: "m",
		takesValue: false,
		instead:
			"write the interpreter: elastic-run [options] python3 -u -m MODULE",
		hidesCommand: true,
	},
	{
		name: "run-path",
		takesValue: false,
		instead: "scripts are always run as programs; leave it out",
	},
	{
		name: "event-log-handler",
		takesValue: true,
		instead: "use --log-format json",
	},
	{
		name: "logs-specs",
		takesValue: true,
		instead: "use --log-dir, --redirects and --tee",
	},
	{ name: "duplicate-stdout-filters", takesValue: true, instead: FILTER },
	{ name: "duplicate-stderr-filters", takesValue: true, instead: FILTER },
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
