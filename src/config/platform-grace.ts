import { readSmallFile } from "../base/read-small-file.js";
import { durationInWords } from "./parse/scalars.js";
import type { Environment } from "./settings.js";

/** What a platform gives a launcher from its SIGTERM to its SIGKILL. */
export interface PlatformGrace {
	readonly graceMs: number;
	/** What the user should know of it. */
	readonly words: string;
}

interface Preset {
	readonly platform: string;
	/** The variable that only this platform sets. */
	readonly variable: string;
	readonly graceMs: number;
}

/** Platforms that give all machines the same time, whatever anybody sets. */
const PRESETS: readonly Preset[] = [
	{ platform: "RunPod", variable: "RUNPOD_POD_ID", graceMs: 5_000 },
	{ platform: "Vast.ai", variable: "VAST_CONTAINERLABEL", graceMs: 0 },
];

/** Without another word a pod is taken to have less than any platform's usual time. */
const UNKNOWN_POD_MS = 10_000;

/** Where Slurm's settings are: of the cluster, and of one that hands them out at start. */
const SLURM_SETTINGS = ["/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"];
const KILL_WAIT = /^\s*KillWait\s*=\s*(\d+)/im;

/**
 * The time of the platform that this environment is of; undefined: a SIGTERM is no platform's here, or nobody knows its
 * time.
 * @param hasOwnTime the user has said how long workers get after SIGTERM, which only a preset contradicts
 */
export async function platformGrace(
	environment: Environment,
	hasOwnTime: boolean,
): Promise<PlatformGrace | undefined> {
	const preset = PRESETS.find(({ variable }) => Boolean(environment[variable]));
	if (preset !== undefined) {
		const { platform, graceMs } = preset;
		const words = `${platform} gives ${durationInWords(graceMs)} from SIGTERM to SIGKILL: save checkpoints in time, not at a notice`;
		return { graceMs, words };
	}
	if (hasOwnTime) return undefined;
	if (environment.SLURM_JOB_ID) return slurmGrace(environment.SLURM_CONF);
	if (!environment.KUBERNETES_SERVICE_HOST) return undefined;
	const words = `this pod's terminationGracePeriodSeconds is not known here; from SIGTERM to SIGKILL ${durationInWords(UNKNOWN_POD_MS)} are assumed; give it, less 5 s, as --termination-grace or ELASTIC_RUN_TERMINATION_GRACE`;
	return { graceMs: UNKNOWN_POD_MS, words };
}

async function slurmGrace(
	named: string | undefined,
): Promise<PlatformGrace | undefined> {
	for (const path of named ? [named] : SLURM_SETTINGS) {
		const read = await readSmallFile(path);
		if ("problem" in read) continue;
		const seconds = KILL_WAIT.exec(read.content.toString())?.[1];
		if (seconds === undefined) continue;
		const graceMs = Number(seconds) * 1_000;
		const words = `Slurm gives ${durationInWords(graceMs)} from SIGTERM to SIGKILL (KillWait in ${path})`;
		return { graceMs, words };
	}
	return undefined;
}
