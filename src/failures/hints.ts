import { mayBePhase } from "./fingerprint.js";
import type { Trace } from "./trace.js";

/** What is known of a failure by its words. */
export interface Hint {
	/** In a few words, where the exception itself does not say it; else undefined. */
	readonly what?: string;
	/** What it means and what to do, in one line. */
	readonly hint: string;
}

/** The words of a worker that has failed. */
export interface FailureWords {
	/** Its exception; undefined if none is known. */
	readonly trace: Pick<Trace, "type" | "message"> | undefined;
	/** The message of its error file. */
	readonly message: string | undefined;
	/** The last lines of its stderr. */
	readonly stderr: string;
}

interface Row extends Hint {
	readonly pattern: RegExp;
	/** The exception does not name it, but a line before it does: an exception that led to it, or a library's log. */
	readonly isInOutput?: boolean;
}

/** The words are those of torch, NCCL, gloo, huggingface_hub, transformers, datasets and Node. The first row that matches holds. */
const ROWS: readonly Row[] = [
	{
		pattern:
			/DataLoader worker \(pid \S+\) is killed by signal: Bus error|insufficient shared memory \(shm\)|shared memory\(shm\) for file|unable to \w+( to)? file <\/torch_|No space left on device.*\/dev\/shm/,
		isInOutput: true,
		what: "too little shared memory",
		hint: "/dev/shm is full, through which data loaders pass batches: make it larger (docker run --shm-size=8g, in Kubernetes an emptyDir with medium: Memory), or use fewer num_workers",
	},
	{
		pattern: /DataLoader worker \(pid \S+\) is killed by signal: Killed/,
		isInOutput: true,
		what: "a process of its data loader was killed",
		hint: "a process of the data loader got SIGKILL, usually for want of memory (dmesg would say so): use fewer num_workers, a smaller prefetch_factor, or give it more memory",
	},
	{
		pattern:
			/DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly|DataLoader worker \(pid \S+\) is killed by signal/,
		hint: "a process of the data loader has died: see its stderr before this; with num_workers=0 the error is raised in the script itself",
	},
	{
		pattern:
			/CUDA out of memory|CUDA error: out of memory|torch\.(cuda\.)?OutOfMemoryError/,
		hint: "the GPU's memory is used up: make batches smaller, or checkpoint activations; nvidia-smi shows whether other processes hold some of it",
	},
	{
		pattern: /Watchdog caught collective operation timeout/,
		isInOutput: true,
		what: "a collective of NCCL timed out",
		hint: "a rank did not come to this collective: see what the others did (elastic-run why, while it waits); where one may take so long, raise init_process_group(timeout=…)",
	},
	{
		pattern:
			/LocalEntryNotFoundError|OfflineModeIsEnabled|We couldn't connect to '.*' to load the files|Couldn't reach .* on the Hub|Couldn't reach the Hugging Face Hub/,
		hint: "the hub cannot be reached or HF_HUB_OFFLINE is set, and the file is not in this machine's cache: download it before (hf download NAME), into a cache that each node has (HF_HOME), or allow the network",
	},
	{
		pattern: /EADDRINUSE|[Aa]ddress already in use/,
		hint: "another process listens at this port. MASTER_PORT is a new one in each round: use it instead of a fixed port, or port 0; ss -ltnp shows who has it",
	},
	{
		pattern:
			/The client socket has timed out after .* while trying to connect|waiting for clients\. \d+\/\d+ clients joined/,
		hint: "not all ranks met at MASTER_ADDR:MASTER_PORT: one did not come so far, or a firewall is between the nodes (--local-addr is this node's address for the others)",
	},
	{
		pattern:
			/Gloo connectFullMesh failed|gloo.*(timed out connecting|Connect timeout|connection refused)/i,
		hint: "this rank cannot connect to another: that one has ended, a firewall is between them, or its host name stands for another address (GLOO_SOCKET_IFNAME=eth0 names the network)",
	},
	{
		pattern: /gloo.*(Timed out waiting \d+ms for|Read timeout)/,
		hint: "another rank did not come to this collective in time: see what it did (elastic-run why, while it waits); where one may take so long, raise init_process_group(timeout=…)",
	},
	{
		pattern: /gloo.*Connection (closed|reset) by peer/,
		hint: "another rank ended in the middle of a collective, or the network did: look for the rank that failed first",
	},
];

/** Undefined if nothing is known. */
export function hintOn(words: FailureWords): Hint | undefined {
	const { trace, message = "", stderr } = words;
	const raised = [trace?.type, trace?.message, message].join("\n");
	const all = `${raised}\n${stderr}`;
	return ROWS.find(({ pattern, isInOutput }) =>
		pattern.test(isInOutput ? all : raised),
	);
}

/** What a phase without steps needs so that it is no hang. */
export const ANNOUNCE_PHASE =
	"announce a phase without steps by report_progress(busy=…, for_seconds=…), or raise --hang-timeout";

const PHASE_TIMES = 3;
const PHASE = `${PHASE_TIMES} times in a row after the same step: this is a phase rather than a hang; ${ANNOUNCE_PHASE}`;

/**
 * What the report says of a hang that came again and again; undefined of other failures.
 * @param row the failures before it that were the same
 */
export function phaseHint(
	fingerprint: string | undefined,
	row: { readonly fingerprint: string; readonly times: number } | undefined,
): string | undefined {
	if (fingerprint === undefined || !mayBePhase(fingerprint)) return undefined;
	const isSame = row?.fingerprint === fingerprint;
	return isSame && row.times + 1 >= PHASE_TIMES ? PHASE : undefined;
}
