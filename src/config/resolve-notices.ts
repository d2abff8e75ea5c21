import { resolve } from "node:path";
import type { AgentConfig, NoticesConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import { durationInWords } from "./parse/scalars.js";
import type { Report, SettingReader } from "./settings.js";

/** Warns of times that do not fit together: then a part of the order is lost. */
export function resolveNotices(
	reader: SettingReader,
	request: {
		readonly cwd: string;
		readonly environment: Readonly<Record<string, string | undefined>>;
	},
	warn: Report,
): Pick<AgentConfig, "notices" | "deadlineMs"> {
	const { cwd, environment } = request;
	const sources = reader.value(OPTIONS.notices);
	const notices: NoticesConfig = {
		sources:
			sources === "auto"
				? sources
				: sources.map((one) =>
						typeof one === "object" ? { path: resolve(cwd, one.path) } : one,
					),
		onAdvice: reader.value(OPTIONS.onAdvice),
		maxLifetimeMs: reader.given(OPTIONS.maxLifetime),
		drainBeforeMs: reader.value(OPTIONS.drainBefore),
		terminationGraceMs: reader.given(OPTIONS.terminationGrace),
	};
	const isInSlurm =
		Boolean(environment.SLURM_JOB_ID) &&
		(sources === "auto" || sources.includes("slurm"));
	const shutdownTimeoutMs = reader.value(OPTIONS.shutdownTimeout);
	for (const words of fitWarnings(notices, shutdownTimeoutMs, isInSlurm)) {
		warn(words);
	}
	return { notices, deadlineMs: reader.given(OPTIONS.deadline) };
}

/** One line for each time that is too short for the workers' own. */
export function fitWarnings(
	notices: Omit<NoticesConfig, "sources" | "onAdvice">,
	shutdownTimeoutMs: number,
	isInSlurm: boolean,
): readonly string[] {
	const { maxLifetimeMs, drainBeforeMs, terminationGraceMs } = notices;
	const shutdown = `--shutdown-timeout (${durationInWords(shutdownTimeoutMs)})`;
	const isTight = (timeMs: number | undefined) =>
		timeMs !== undefined && timeMs <= shutdownTimeoutMs;
	// A short lifetime keeps at least half of its time.
	const halfMs = (maxLifetimeMs ?? Number.POSITIVE_INFINITY) / 2;
	const isShort = halfMs < drainBeforeMs && isTight(halfMs);
	return [
		...(isShort
			? [
					`half of --max-lifetime (${durationInWords(maxLifetimeMs ?? 0)}) is not longer than ${shutdown}: workers that use all of it are killed at its end`,
				]
			: []),
		...(isTight(terminationGraceMs)
			? [
					`--termination-grace (${durationInWords(terminationGraceMs ?? 0)}) is not longer than ${shutdown}: workers that use all of it are killed with their launcher; make the pod's terminationGracePeriodSeconds longer, or the shutdown time-out shorter`,
				]
			: []),
		...((maxLifetimeMs !== undefined || isInSlurm) && isTight(drainBeforeMs)
			? [
					`--drain-before (${durationInWords(drainBeforeMs)}) is not longer than ${shutdown}: workers that use all of it are killed at the end of ${maxLifetimeMs === undefined ? "the Slurm job" : "--max-lifetime"}`,
				]
			: []),
	];
}
