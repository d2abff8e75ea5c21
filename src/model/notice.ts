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

/** Whose word a notice is: a later one replaces it, and nothing else withdraws it. */
export interface NoticeOrigin {
	readonly source: NoticeSource;
	/** What says so, where one source has several: a file's path, a platform's value. */
	readonly origin?: string | undefined;
}

/** Says that this machine will go. */
export interface Notice extends NoticeOrigin {
	/** Why, in words. */
	readonly reason: string;
	/** When the machine goes, in milliseconds since 1970; undefined if unknown. */
	readonly deadline: number | undefined;
}

/** What an open source of notices tells. */
export interface NoticeListener {
	/** The machine will go. A later notice replaces an earlier one of the same origin. */
	noticed(notice: Notice): void;
	/** A recommendation only: `--on-advice` decides. */
	advised(notice: Notice): void;
	/** What gave this notice, or this recommendation, has withdrawn it. */
	withdrawn(what: NoticeOrigin, reason: string): void;
}
