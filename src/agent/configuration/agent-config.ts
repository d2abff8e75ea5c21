import type { RestartPolicyStrategy } from "../../policies/strategy.js";

/** Which of a worker's two streams: none, stdout, stderr, both (torchrun's 0, 1, 2, 3). */
export interface StreamSelection {
	readonly stdout: boolean;
	readonly stderr: boolean;
}

/** The time-outs and credentials of `--rdzv-conf`, in milliseconds. */
export interface RendezvousConfig {
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	readonly leaseTtlMs: number;
	readonly username?: string | undefined;
	readonly passwordFile?: string | undefined;
	readonly caCert?: string | undefined;
	readonly cert?: string | undefined;
	readonly key?: string | undefined;
}

/** How a worker's process is started: resolved, found and executable. */
export interface WorkerCommand {
	/** Absolute path of the program. */
	readonly file: string;
	/** Its arguments, the script among them. */
	readonly args: readonly string[];
	readonly cwd: string;
	/** The script or command as the user typed it, for messages. */
	readonly display: string;
}

/** Everything that one agent needs to know: validated, defaults filled in, times in milliseconds. */
export interface AgentConfig {
	readonly command: WorkerCommand;
	/** The environment that workers inherit, before the launcher's own variables are laid over it. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly nprocPerNode: number;
	readonly runId: string;
	readonly nodeId: string;
	readonly backend: "memory" | "etcd";
	readonly endpoints: readonly string[];
	readonly rendezvous: RendezvousConfig;
	readonly localAddr: string;
	readonly role: string;
	readonly policy: RestartPolicyStrategy;
	readonly maxRestarts: number;
	readonly shutdownTimeoutMs: number;
	readonly pauseTimeoutMs: number;
	/** Undefined: a fresh temporary directory. */
	readonly logDir: string | undefined;
	/** One entry a local rank. A stream that is shown (tee) is redirected as well. */
	readonly redirects: readonly StreamSelection[];
	readonly tee: readonly StreamSelection[];
	readonly logPrefix: string;
	/** Local ranks whose lines reach the console; undefined: all. */
	readonly localRanksFilter: readonly number[] | undefined;
	readonly output: "text" | "json";
	readonly logFormat: "pretty" | "json";
	readonly signalsToHandle: readonly NodeJS.Signals[];
	/** Below it lie the channel directories. */
	readonly channelBase: string;
}
