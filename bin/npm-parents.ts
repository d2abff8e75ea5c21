import { textAt } from "../src/base/attempt.js";
import { BEAT_MS, type Clock, onBeat } from "../src/base/clock.js";
import { isLiving, readProcess } from "../src/base/process-stat.js";

/** A process above the launcher. Pid and start time together stay unique. */
interface Ancestor {
	readonly pid: number;
	readonly startTime: number;
	/** Its command line, with NUL bytes between the words. */
	readonly command: string;
}

const NPM = /(?:^|[/\0])(?:npm|npx|pnpm|yarn)(?:-cli)?(?:\.c?js)?(?:[ \0]|$)/;
const SHELL_COMMAND = /^(?:\S*\/)?(?:sh|dash|bash|ash)\0-\w*c\0/;

/**
 * The ancestors from this process's parent up to npm, if npm started it; otherwise none. A launcher that a script left in
 * the background has lost them.
 */
export function npmParents(
	ancestors: readonly Ancestor[],
): readonly Ancestor[] {
	const isShell = ({ command }: Ancestor) => SHELL_COMMAND.test(command);
	const isNpm = (ancestor: Ancestor) =>
		NPM.test(ancestor.command) && !isShell(ancestor);
	const end = ancestors.findIndex((one) => !isNpm(one) && !isShell(one));
	const chain = end === -1 ? ancestors : ancestors.slice(0, end);
	const last = chain.findLastIndex(isNpm);
	return chain.slice(0, last + 1);
}

/**
 * npm dies of some signals without passing them on, and the launcher would continue unseen. Calls `onGone` once when npm,
 * or a process between npm and this one, has ended.
 */
export function watchNpm(clock: Clock, onGone: () => void): void {
	const parents = npmParents(readAncestors());
	if (parents.length === 0) return;
	const look = () => {
		if (!parents.every(isThere)) onGone();
		else clock.wakeAt(onBeat(clock.now() + BEAT_MS, BEAT_MS), look);
	};
	look();
}

function isThere({ pid, startTime }: Ancestor): boolean {
	const entry = readProcess(pid);
	return entry?.startTime === startTime && isLiving(entry);
}

/** From the parent up. Without /proc there are none. */
function readAncestors(): readonly Ancestor[] {
	const ancestors: Ancestor[] = [];
	let pid = process.ppid;
	for (let entry = readProcess(pid); entry; entry = readProcess(pid)) {
		const { startTime, parentId } = entry;
		const command = textAt(`/proc/${pid}/cmdline`) ?? "";
		ancestors.push({ pid, startTime, command });
		pid = parentId;
	}
	return ancestors;
}
