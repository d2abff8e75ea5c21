/**
 * A warning if the agent is the first process of a container: orphans become its children, and Node reaps only the
 * processes that it spawned. Undefined elsewhere.
 */
export function pid1Warning(process: {
	readonly pid: number;
}): string | undefined {
	if (process.pid !== 1) return undefined;
	return 'this launcher is process 1 and cannot reap the zombies of orphaned processes, which pile up until the container\'s limit of pids: put an init before it (docker run --init; or in the image ENTRYPOINT ["tini", "--", "elastic-run"])';
}
