import { type ReadProgressOptions, readProgress } from "./read-progress.js";

export interface OthersOptions extends ReadProgressOptions {
	readonly nodeId: string;
}

/**
 * Until when a worker of another node has announced that no step comes, in milliseconds since 1970; 0 if none has, or the
 * store does not answer. The workers here may wait for that one.
 */
export async function othersBusyUntil({
	nodeId,
	...place
}: OthersOptions): Promise<number> {
	const records = (await readProgress(place)) ?? [];
	const others = records.filter((one) => one.nodeId !== nodeId);
	return Math.max(0, ...others.map(({ busyUntil = 0 }) => busyUntil));
}
