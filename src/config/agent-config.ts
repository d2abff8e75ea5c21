import type { RestartLimit, StreamSelection } from "../model/index.js";
import type { RestartPolicyStrategy, Rule } from "../policies/index.js";
import type { RestartDelay } from "./parse/restarts.js";

/** The time-outs of `--rdzv-conf`, in milliseconds. */
export interface RendezvousConfig {
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	readonly leaseTtlMs: number;
}

/** The agent's credentials for etcd, and the authorities it trusts. Secret: never logged, never passed to a worker. */
export interface StoreCredentials {
	readonly login?:
		| { readonly username: string; readonly password: string }
		| undefined;
	/** Undefined: no TLS. Without an authority here, the system's own are trusted. */
	readonly tls?:
		| {
				readonly ca?: Buffer;
				readonly cert?: Buffer;
				readonly key?: Buffer;
		  }
		| undefined;
	/** Where these are renewed while a run goes on, by absolute path. */
	readonly files?: Partial<
		Record<"password" | "ca" | "cert" | "key", string | undefined>
	>;
}

/** Where the run's shared state is stored. */
export interface StoreConfig {
	readonly backend: "memory" | "etcd";
	/** `host:port`, or `https://host:port` in all of them; empty for the memory store. */
	readonly endpoints: readonly string[];
	readonly credentials: StoreCredentials;
	/** The lease's lifetime, which bounds how long the store may take to answer; undefined: the default. */
	readonly leaseTtlMs?: number | undefined;
}

/** How agents meet at an etcd that they host themselves: docs/etcd.md. */
export interface MeetingConfig {
	/** Whether this agent hosts, if a flag says so; undefined: names and addresses decide. */
	readonly isHost: boolean | undefined;
}

/** Where a node can be observed over HTTP. */
export interface HttpConfig {
	/** Without brackets. */
	readonly host: string;
	/** 0: any free port. */
	readonly port: number;
	/** The token that clients must send; undefined: none. Secret: never logged, never passed to a worker. */
	readonly token: string | undefined;
}

/** How a worker's process is started: resolved, found and executable. */
export interface WorkerCommand {
	/** Absolute path of the program. */
	readonly file: string;
	/** Its arguments, including the script. */
	readonly args: readonly string[];
	readonly cwd: string;
	/** The script or command as the user typed it, for messages. */
	readonly display: string;
	/** The same with its arguments. Agents of a role compare it. */
	readonly typed: readonly string[];
}

/** How steps are found, and what follows if none comes. Times are milliseconds. */
export interface StepsConfig {
	/** Its first group is the number of a step in a worker's output. */
	readonly pattern: RegExp;
	/** 0: never. */
	readonly hangMs: number | "auto";
	/** 0: never; "auto": as long as usual for workers that use torch.distributed, and never for others. */
	readonly startMs: number | "auto";
	readonly onHang: "restart" | "report" | "fail";
	readonly evidenceMs: number;
	/** How long a process may take to end after its uncaught exception; 0: as long as it wants. */
	readonly exitMs: number;
	/** How long after SIGTERM a worker lives that waits for a dead one; 0: as long as any other. */
	readonly stuckMs: number;
}

/** A source of notices that was named. */
export type NoticeChoice =
	| "aws"
	| "gcp"
	| "azure"
	| "slurm"
	/** The file whose appearance is a notice: an absolute path. */
	| { readonly path: string };

/** Who says that this machine will go, and when it goes by itself. Times are milliseconds. */
export interface NoticesConfig {
	readonly sources: "auto" | readonly NoticeChoice[];
	readonly onAdvice: "drain" | "log";
	/** Undefined: as long as it wants. */
	readonly maxLifetimeMs: number | undefined;
	readonly drainBeforeMs: number;
	/** From the platform's SIGTERM to its SIGKILL; undefined: a SIGTERM is no notice. */
	readonly terminationGraceMs: number | undefined;
}

/** What else limits restarts, beside `maxRestarts`. */
interface RestartLimits {
	/** Of `maxRestarts`, in milliseconds; 0: none. */
	readonly windowMs: number;
	/** Of a node, a role; undefined: none. */
	readonly node: RestartLimit | undefined;
	readonly role: RestartLimit | undefined;
	/** How often the run may lose machines. */
	readonly preemptions: RestartLimit | undefined;
}

/** The complete configuration of one agent: validated, with defaults, times in milliseconds. */
export interface AgentConfig extends StoreConfig {
	readonly command: WorkerCommand;
	/** The environment that workers inherit, before the launcher adds its own variables. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Appended to the PYTHONPATH of workers; undefined if they are not Python, or it is turned off. */
	readonly pythonPath: string | undefined;
	/** Whether workers get a directory for the launcher's hook. */
	readonly hasHook: boolean;
	/** Whether restarted workers may be forked with their imports, or started ahead; frugal: where that saves much. */
	readonly warm: "auto" | "frugal" | "off";
	/** Put first on the PYTHONPATH of workers; undefined if they are not Python, or there is no hook. */
	readonly pythonHook: string | undefined;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly nprocPerNode: number;
	/** The local rank of the worker that reads the launcher's stdin; undefined: none. */
	readonly stdinRank: number | undefined;
	readonly runId: string;
	/** Derived from the command: each start of the same command has the same run id. */
	readonly isRunIdDerived: boolean;
	/** The user named the run: the id comes neither from the command nor from a scheduler. */
	readonly isRunIdGiven: boolean;
	readonly nodeId: string;
	/** Derived from the host's name: if it is taken, the agent appends a number. */
	readonly isNodeIdDerived: boolean;
	/** Undefined: the agents do not host the store. */
	readonly meeting: MeetingConfig | undefined;
	readonly rendezvous: RendezvousConfig;
	/** Where it listens for the other agents, 0: at any free port; undefined: agents have no links. */
	readonly linkPort: number | undefined;
	/** How long a round goes on while the store is away, in milliseconds; 0: it does not. */
	readonly rideOutMs: number;
	/** The wanted position of this node in the order of ranks, from 0. */
	readonly nodeRank: number | undefined;
	/** Undefined: determined at the start from the route to the store. */
	readonly localAddr: string | undefined;
	readonly role: string;
	readonly policy: RestartPolicyStrategy;
	/** Agents of one run compare it: the policy's name and, for a file, its digest. */
	readonly policyId: string;
	readonly maxRestarts: number;
	readonly restartLimits: RestartLimits;
	readonly restartDelay: RestartDelay;
	/** So many same failures in a row end the run; 0: they do not. */
	readonly maxIdenticalFailures: number;
	/** What restarts when a worker fails: all workers, or those of its role. */
	readonly failoverScope: "run" | "role";
	/** The run succeeds when the workers of these roles have; none: all workers. Sorted. */
	readonly driverRoles: readonly string[];
	/** Asked before the policy; the first match decides. */
	readonly rules: readonly Rule[];
	/** This process starts workers for one round only. Then it ends, for its supervisor to start it again. */
	readonly isRecreated: boolean;
	readonly exitCodes: ExitCodeConfig;
	readonly preflight: PreflightConfig;
	readonly replaceNode: ReplaceNodeConfig;
	readonly shutdownTimeoutMs: number;
	readonly pauseTimeoutMs: number;
	readonly steps: StepsConfig;
	readonly notices: NoticesConfig;
	/** How long the run may take, waiting included, in milliseconds; undefined: as long as it wants. */
	readonly deadlineMs: number | undefined;
	/** Undefined: a fresh temporary directory. */
	readonly logDir: string | undefined;
	/** So many earlier starts of the run keep their logs there; undefined: all. */
	readonly keepLogs: number | undefined;
	/** One entry per local rank. A stream that is shown (tee) is redirected as well. */
	readonly redirects: readonly StreamSelection[];
	readonly tee: readonly StreamSelection[];
	readonly logPrefix: string;
	/** The local ranks whose lines reach the console; undefined: all. */
	readonly localRanksFilter: readonly number[] | undefined;
	readonly output: "text" | "json";
	readonly logFormat: "pretty" | "json";
	/** Undefined: no HTTP server. */
	readonly http: HttpConfig | undefined;
	/** Also sent to the workers at a notice. */
	readonly noticeSignal: NodeJS.Signals | undefined;
	readonly signalsToHandle: readonly NodeJS.Signals[];
	/** Whether each worker sees its own GPU alone, as device 0. */
	readonly virtualLocalRank: boolean;
	/** The parent of the channel directories. */
	readonly channelBase: string;
}

/** The exit codes that a user can choose. */
export interface ExitCodeConfig {
	/** Of an agent whose node should be replaced. */
	readonly replaceNode: number;
	/** Of an agent that should be started again. */
	readonly restart: number;
	/** A failed run exits with the exit code of its root cause. */
	readonly isPropagated: boolean;
}

/** What is run before a node joins. */
export interface PreflightConfig {
	/** For `sh -c`; undefined: none. */
	readonly command: string | undefined;
	readonly timeoutMs: number;
}

/** What is run when a node is to be replaced. */
export interface ReplaceNodeConfig {
	/** For `sh -c`; undefined: none. */
	readonly command: string | undefined;
	readonly timeoutMs: number;
}
