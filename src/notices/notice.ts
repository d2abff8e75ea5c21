/** Where a notice comes from. */
export type NoticeSource =
	| "aws"
	| "gcp"
	| "azure"
	| "slurm"
	| "kubernetes"
	| "file"
	| "lifetime"
	| "command"
	| "chaos";

/** Says that this machine will go. */
export interface Notice {
	readonly source: NoticeSource;
	/** Why, in words. */
	readonly reason: string;
	/** When the machine goes, in milliseconds since 1970; undefined if unknown. */
	readonly deadline: number | undefined;
}

/** What an open source of notices tells. */
export interface NoticeListener {
	/** The machine will go. A later notice may replace an earlier one of the same source. */
	noticed(notice: Notice): void;
	/** A recommendation only: `--on-advice` decides. */
	advised(notice: Notice): void;
	/** The source has withdrawn its notice. */
	withdrawn(source: NoticeSource, reason: string): void;
}
