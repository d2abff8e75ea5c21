import type { RestartPolicyStrategy } from "../../policies/strategy.js";

/** Which of a worker's two streams: none, stdout, stderr, both (torchrun's 0, 1, 2, 3). */
export interface StreamSelection {
	readonly stdout: boolean;
	readonly stderr: boolean;
}

/** The time-outs of `--rdzv-conf`, in milliseconds. */
export interface RendezvousConfig {
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	readonly leaseTtlMs: number;
}

/** What an agent shows to etcd, and whom it trusts. Secret: never logged, never handed to a worker. */
export interface StoreCredentials {
	readonly login?:
		| { readonly username: string; readonly password: string }
		| undefined;
	/** Undefined: without TLS. What it lacks, the system's own authorities stand for. */
	readonly tls?:
		| {
				readonly ca?: Buffer;
				readonly cert?: Buffer;
				readonly key?: Buffer;
		  }
		| undefined;
}

/** Where the run's shared state lives. */
export interface StoreConfig {
	readonly backend: "memory" | "etcd";
	/** `host:port`, or `https://host:port` in all of them; none for the memory. */
	readonly endpoints: readonly string[];
	readonly credentials: StoreCredentials;
}

/** Where a node can be observed over HTTP. */
export interface HttpConfig {
	/** Without brackets. */
	readonly host: string;
	/** 0: a free one. */
	readonly port: number;
	/** What whoever asks must show. Secret: never logged, never handed to a worker. Undefined: nothing. */
	readonly token: string | undefined;
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
export interface AgentConfig extends StoreConfig {
	readonly command: WorkerCommand;
	/** The environment that workers inherit, before the launcher's own variables are laid over it. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** What is appended to the PYTHONPATH of workers; undefined where they are not Python, or it is not wanted. */
	readonly pythonPath: string | undefined;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly nprocPerNode: number;
	readonly runId: string;
	/** It follows from the command: another start of the same command has the same one. */
	readonly isRunIdDerived: boolean;
	readonly nodeId: string;
	/** It is the host's name: an agent that finds it taken adds a number. */
	readonly isNodeIdDerived: boolean;
	readonly rendezvous: RendezvousConfig;
	/** Undefined: found out at the start, by the way to the store. */
	readonly localAddr: string | undefined;
	readonly role: string;
	readonly policy: RestartPolicyStrategy;
	/** What agents of one run compare of the policy: its name and, of a file, its content's digest. */
	readonly policyId: string;
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
	/** Undefined: it is not observed. */
	readonly http: HttpConfig | undefined;
	readonly signalsToHandle: readonly NodeJS.Signals[];
	/** Below it lie the channel directories. */
	readonly channelBase: string;
}
