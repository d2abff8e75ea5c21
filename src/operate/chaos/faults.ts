/** An action on a process. */
interface Fault {
	readonly target: "worker" | "agent";
	readonly signal: NodeJS.Signals;
	/** It is continued later. */
	readonly isPassing: boolean;
	/** An explanation for people. */
	readonly means: string;
}

/** The kinds of fault, by name. */
export const FAULTS = {
	"kill-worker": {
		...{ target: "worker", signal: "SIGKILL", isPassing: false },
		means: "as by the kernel, out of memory",
	},
	"crash-worker": {
		...{ target: "worker", signal: "SIGSEGV", isPassing: false },
		means: "as by a fault in native code",
	},
	"stop-worker": {
		...{ target: "worker", signal: "SIGTERM", isPassing: false },
		means: "it may save before it ends",
	},
	"freeze-worker": {
		...{ target: "worker", signal: "SIGSTOP", isPassing: true },
		means: "like a device that hangs; it continues later",
	},
	"kill-agent": {
		...{ target: "agent", signal: "SIGKILL", isPassing: false },
		means: "the launcher, and with it its workers: as a machine that dies",
	},
	"stop-agent": {
		...{ target: "agent", signal: "SIGTERM", isPassing: false },
		means: "the launcher leaves its run: as a machine that is preempted",
	},
	"freeze-agent": {
		...{ target: "agent", signal: "SIGSTOP", isPassing: true },
		means: "like a machine that hangs; it continues later",
	},
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS = Object.keys(FAULTS).filter(isFaultKind);

export function isFaultKind(text: string): text is FaultKind {
	return Object.hasOwn(FAULTS, text);
}
