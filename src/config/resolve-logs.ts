import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import type { AgentConfig } from "./agent-config.js";
import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import {
	redirectWhatIsShown,
	type StreamMap,
	selectStreams,
} from "./parse/streams.js";
import type { SettingReader } from "./settings.js";

type LogPart = Pick<
	AgentConfig,
	| "logDir"
	| "redirects"
	| "tee"
	| "logPrefix"
	| "localRanksFilter"
	| "output"
	| "logFormat"
>;

/** Where the workers' output goes, and which of it is shown. */
export async function resolveLogs(
	reader: SettingReader,
	workers: { readonly nprocPerNode: number; readonly cwd: string },
): Promise<LogPart> {
	const { redirects, tee, localRanksFilter } = OPTIONS;
	const redirectMap = reader.value(redirects);
	const teeMap = reader.value(tee);
	const filter = reader.given(localRanksFilter);
	checkRanks(reader, redirects, ranksOf(redirectMap), workers.nprocPerNode);
	checkRanks(reader, tee, ranksOf(teeMap), workers.nprocPerNode);
	checkRanks(reader, localRanksFilter, filter ?? [], workers.nprocPerNode);
	const shown = selectStreams(teeMap, workers.nprocPerNode);
	return {
		logDir: await resolveLogDir(reader, workers.cwd),
		redirects: redirectWhatIsShown(
			selectStreams(redirectMap, workers.nprocPerNode),
			shown,
		),
		tee: shown,
		logPrefix: reader.value(OPTIONS.logPrefix),
		localRanksFilter: filter,
		output: reader.value(OPTIONS.output),
		logFormat: reader.value(OPTIONS.logFormat),
	};
}

function ranksOf(map: StreamMap): readonly number[] {
	return "all" in map ? [] : [...map.byLocalRank.keys()];
}

function checkRanks(
	reader: SettingReader,
	option: Option<unknown>,
	ranks: readonly number[],
	nprocPerNode: number,
): void {
	const absent = ranks.find((rank) => rank >= nprocPerNode);
	if (absent === undefined || !reader.sound(option, OPTIONS.nprocPerNode))
		return;
	const words =
		nprocPerNode === 1
			? "1 worker; use 0"
			: `${nprocPerNode} workers; use 0 to ${nprocPerNode - 1}`;
	reader.refuse(option, `there is no local rank ${absent} with ${words}`);
}

async function resolveLogDir(
	reader: SettingReader,
	cwd: string,
): Promise<string | undefined> {
	const given = reader.given(OPTIONS.logDir);
	if (given === undefined) return undefined;
	const path = resolve(cwd, given);
	const problem = await directoryProblem(path);
	if (problem !== undefined) {
		reader.refuse(
			OPTIONS.logDir,
			`${given}: ${problem}; choose another directory`,
		);
	}
	return path;
}

/** Why a directory, which may not exist yet, cannot be written to. */
async function directoryProblem(path: string): Promise<string | undefined> {
	try {
		if (!(await stat(path)).isDirectory()) return `${path} is not a directory`;
		await access(path, constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		switch (systemErrorCode(error)) {
			case "ENOENT":
			case "ENOTDIR":
				return directoryProblem(dirname(path));
			case "EROFS":
				return `${path} is read-only`;
			default:
				return `permission denied in ${path}`;
		}
	}
}
