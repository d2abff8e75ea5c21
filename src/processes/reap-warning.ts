/**
 * A warning if the agent is the first process of a container, because the image has nothing that reaps for it: orphans
 * become its children, and Node reaps only the processes that it spawned. Undefined elsewhere.
 */
export function pid1Warning(process: {
	readonly pid: number;
}): string | undefined {
	if (process.pid !== 1) return undefined;
	return 'this launcher is process 1 and cannot reap the zombies of orphaned processes, which pile up until the container\'s limit of pids: put python3, perl or an init into the image (docker run --init; or in the image ENTRYPOINT ["tini", "--", "elastic-run"])';
}
