/** Why a node's machine will go. */
export interface NoticeRecord {
	/** "aws", "slurm", "command" …; later agents may know others. */
	readonly source: string;
	readonly reason: string;
	/** When the machine goes, in milliseconds since 1970; absent if unknown. */
	readonly deadline?: number | undefined;
}
