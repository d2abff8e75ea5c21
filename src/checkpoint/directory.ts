// A directory of checkpoints: its files, and which round began from which file.

import { readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../base/attempt.js";
import { systemErrorCode } from "../base/errors.js";
import { makeDirectories } from "../channel/index.js";
import type { CheckpointDisk } from "./disk.js";
import { syncDirectory, writeDurably } from "./files.js";
import {
	type CheckpointFile,
	type CheckpointToken,
	claimFileName,
	compareTokens,
	parseCheckpointFileName,
	parseClaimFileName,
	parseTemporaryFileName,
	type RoundClaim,
	temporaryFileName,
} from "./order.js";

/** Older claims are no longer needed. */
const CLAIMS_KEPT = 64;

/** File systems in memory, by the magic numbers of statfs(2): tmpfs and ramfs. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6]);

/** The content of a directory at one moment. */
export interface DirectoryListing {
	readonly files: readonly CheckpointFile[];
	/** From their names only, oldest first. */
	readonly claimTokens: readonly CheckpointToken[];
	/** Unfinished files of living and dead writers. */
	readonly temporaries: readonly (CheckpointToken & {
		readonly name: string;
	})[];
}

/** A directory that does not exist yet is empty. */
export function listDirectory(directory: string): DirectoryListing {
	const names = namesIn(directory);
	return {
		files: names.flatMap((name) => parseCheckpointFileName(name) ?? []),
		claimTokens: names
			.flatMap((name) => parseClaimFileName(name) ?? [])
			.sort(compareTokens),
		temporaries: names.flatMap((name) => {
			const token = parseTemporaryFileName(name);
			return token === undefined ? [] : { ...token, name };
		}),
	};
}

/** A claim that was deleted meanwhile or is unreadable keeps its token, without a base. */
export function readClaims(
	directory: string,
	tokens: readonly CheckpointToken[],
): RoundClaim[] {
	return tokens.map((token) => {
		const { base, claimedAt } = readJson(join(directory, claimFileName(token)));
		return {
			instance: token.instance,
			round: token.round,
			base: typeof base === "string" || base === null ? base : undefined,
			claimedAt: typeof claimedAt === "number" ? claimedAt : Number.NaN,
		};
	});
}

/** Writes a round's claim, whole or not at all, unless another worker of the round was first. */
export function claimRound(
	disk: CheckpointDisk,
	directory: string,
	claim: RoundClaim,
	unique: string,
): void {
	const name = claimFileName(claim);
	const temporary = join(directory, temporaryFileName(name, unique));
	const text = `${JSON.stringify({ version: 1, ...claim })}\n`;
	makeDirectory(disk, directory);
	try {
		writeDurably(disk, temporary, [Buffer.from(text)], () => undefined);
		disk.link(temporary, join(directory, name));
		syncDirectory(disk, directory);
	} catch (error) {
		if (systemErrorCode(error) !== "EEXIST") throw error;
	} finally {
		rmSync(temporary, { force: true });
	}
}

/** Makes a directory and its parents, all of them durable. */
export function makeDirectory(disk: CheckpointDisk, directory: string): void {
	const first = makeDirectories(directory);
	if (first === undefined) return;
	for (let made = directory; made.length >= first.length; ) {
		made = dirname(made);
		syncDirectory(disk, made);
	}
}

/** If another writer deleted it first, that is no error. */
export function deleteFile(directory: string, name: string): void {
	rmSync(join(directory, name), { force: true });
}

/** What unfinished saves and long past rounds left behind. */
export function leftovers(
	listing: DirectoryListing,
	writer: CheckpointToken,
): string[] {
	const stale = (token: CheckpointToken) => compareTokens(token, writer) < 0;
	return [
		...listing.temporaries.filter(stale).map(({ name }) => name),
		...listing.claimTokens
			.slice(0, -CLAIMS_KEPT)
			.filter(stale)
			.map(claimFileName),
	];
}

/** Whether the files of a directory are in memory and lost after a restart of the machine. */
export function isInMemory(directory: string): boolean {
	return (
		process.platform === "linux" &&
		MEMORY_FILE_SYSTEMS.has(statfsSync(directory).type >>> 0)
	);
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch (error) {
		if (systemErrorCode(error) === "ENOENT") return [];
		throw error;
	}
}

function readJson(path: string): Readonly<Record<string, unknown>> {
	return attempt(() => Object(JSON.parse(readFileSync(path, "utf8")))) ?? {};
}
