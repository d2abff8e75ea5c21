import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import type { RunCommand } from "../model/index.js";
import type { AgentConfig } from "./agent-config.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import { LOOPBACK } from "./parse/endpoints.js";
import type { NodeRange } from "./parse/nodes.js";
import type { Environment, SettingReader } from "./settings.js";

/** Names and address, given or derived. */
export function resolveIdentity(
	reader: SettingReader,
	request: {
		readonly script: string | undefined;
		readonly args: readonly string[];
		readonly environment: Environment;
	},
	nodes: Pick<AgentConfig, "minNodes" | "maxNodes" | "meeting">,
	host: Host,
) {
	const { SLURM_JOB_ID, SLURM_STEP_ID, SLURM_STEPID } = request.environment;
	const runId = reader.given(OPTIONS.runId);
	const nodeId = reader.given(OPTIONS.nodeId);
	return {
		runId:
			runId ??
			deriveRunId({
				slurmJobId: SLURM_JOB_ID,
				slurmStepId: SLURM_STEP_ID || SLURM_STEPID,
				script: request.script ?? "",
				// An endpoint of their own brings nodes together: what they do may differ, for example by their ranks.
				args: nodes.meeting ? [] : request.args,
				nnodes: { min: nodes.minNodes, max: nodes.maxNodes },
				userName: host.userName,
			}),
		isRunIdGiven: runId !== undefined,
		isRunIdDerived: runId === undefined && !SLURM_JOB_ID,
		nodeId: nodeId ?? deriveNodeId(host.hostName),
		isNodeIdDerived: nodeId === undefined,
		localAddr:
			reader.given(OPTIONS.localAddr) ??
			// With one node no other node needs to reach it.
			(nodes.maxNodes === 1 ? LOOPBACK : undefined),
	};
}

const LONGEST_NAME = 128;
const HASH_DIGITS = 8;

/** The sources of a derived run id. They are the same on every machine, and other flags do not change it. */
interface RunIdSource {
	readonly slurmJobId: string | undefined;
	/** `$SLURM_STEP_ID` or `$SLURM_STEPID`: each `srun` of a job is a step. */
	readonly slurmStepId?: string | undefined;
	/** Script and arguments as typed; no arguments if nodes meet at an endpoint of the run's own. */
	readonly script: string;
	readonly args: readonly string[];
	readonly nnodes: NodeRange;
	readonly userName: string;
}

/** `train-1f3a9c02`, or under Slurm `4711.0`, the ids of job and step. */
export function deriveRunId(source: RunIdSource): string {
	const { slurmJobId, slurmStepId } = source;
	if (slurmJobId) {
		const parts = slurmStepId ? [slurmJobId, slurmStepId] : [slurmJobId];
		return toName(parts.join("."), LONGEST_NAME);
	}
	const { script, args, nnodes, userName } = source;
	const hash = createHash("sha256")
		.update(JSON.stringify([script, args, nnodes.min, nnodes.max, userName]))
		.digest("hex")
		.slice(0, HASH_DIGITS);
	const title = toName(
		basename(script, extname(script)),
		LONGEST_NAME - HASH_DIGITS - 1,
	);
	return `${title}-${hash}`;
}

/** The host name, made a valid name. */
export function deriveNodeId(hostName: string): string {
	return toName(hostName, LONGEST_NAME);
}

/** Replaces every invalid character by a dash. */
function toName(text: string, longest: number): string {
	const name = text
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replace(/^[^A-Za-z0-9]+/, "")
		.slice(0, longest);
	return name === "" ? "run" : name;
}

const SCRIPT_NAMES = new Set([
	...[".js", ".mjs", ".cjs", ".ts", ".py"],
	...[".sh", ".bash", ".pl", ".rb", ".lua", ".r", ".R", ".jl"],
]);
/** The longest form of a command in a message. */
const LONGEST_WORDS = 200;
/** Larger than any script. For a larger file only its beginning and its size count. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Identifies what is run, equally on every machine that runs the same. */
export async function identifyCommand(
	typed: readonly string[],
	cwd: string,
): Promise<RunCommand> {
	return {
		words: inWords(typed),
		argumentsDigest: createHash("sha256")
			.update(JSON.stringify(typed))
			.digest("hex"),
		scriptDigest: await digestScript(typed, cwd),
	};
}

function inWords(typed: readonly string[]): string {
	const words = typed.map((word, index) =>
		withoutSecret(word, typed[index - 1]),
	);
	const text = words.join(" ").replaceAll(/\p{Cc}/gu, " ");
	return text.length > LONGEST_WORDS
		? `${text.slice(0, LONGEST_WORDS)}…`
		: text;
}

/** Hides the secret in `--token=…` and after `--token`. */
function withoutSecret(word: string, before = ""): string {
	const at = word.indexOf("=");
	if (at > 0) {
		const name = word.slice(0, at);
		return `${name}=${hideSecret(name, word.slice(at + 1))}`;
	}
	const isValue = before.startsWith("-") && !word.startsWith("-");
	return hideSecret(isValue ? before : "", word);
}

/** The digest of the first word that names a script here. A program found on PATH may differ between machines. */
async function digestScript(
	typed: readonly string[],
	cwd: string,
): Promise<string> {
	for (const [index, word] of typed.entries()) {
		const isPath = index === 0 && word.includes("/");
		if (!isPath && !SCRIPT_NAMES.has(extname(word))) continue;
		const digest = await digestFile(resolve(cwd, word));
		if (digest !== undefined) return digest;
	}
	return "";
}

/** The digest of a file's content; undefined if there is no such file, or if it cannot be read. */
export async function digestFile(path: string): Promise<string | undefined> {
	try {
		const file = await stat(path);
		if (!file.isFile()) return undefined;
		const hash = createHash("sha256");
		const part = createReadStream(path, { end: LARGEST_BYTES - 1 });
		for await (const bytes of part) hash.update(bytes);
		if (file.size > LARGEST_BYTES) hash.update(String(file.size));
		return hash.digest("hex");
	} catch {
		return undefined;
	}
}

const SECRET_NAME = /pass|token|secret|key|credential|authorization|cookie/i;
const PASSWORD_IN_URL = /(:\/\/[^\s:/@]*):[^\s/@]+@/g;

const REDACTED = "(redacted)";

/** A variable's value as it may be shown: hidden if its name suggests a secret, and without the password of a URL. */
export function hideSecret(name: string, value: string): string {
	return SECRET_NAME.test(name)
		? REDACTED
		: value.replaceAll(PASSWORD_IN_URL, `$1:${REDACTED}@`);
}
