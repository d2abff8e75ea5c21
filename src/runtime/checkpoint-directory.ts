// A directory of checkpoints: what is there, and which round began from what.
import {
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statfsSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../errors.js";
import { syncDirectory } from "./checkpoint-files.js";
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
} from "./checkpoint-order.js";

/** Claims older than these say nothing that is still needed. */
const CLAIMS_KEPT = 64;

/** File systems in memory, by the magic numbers of statfs(2): tmpfs and ramfs. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6]);

/** What a directory holds at one moment. */
export interface DirectoryListing {
	readonly files: readonly CheckpointFile[];
	/** By their names only, the oldest first. */
	readonly claimTokens: readonly CheckpointToken[];
	/** Unfinished files, of writers that live or not. */
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

/** A claim that was deleted meanwhile or cannot be read keeps its token and says nothing of its base. */
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
	directory: string,
	claim: RoundClaim,
	unique: string,
): void {
	const name = claimFileName(claim);
	const temporary = join(directory, temporaryFileName(name, unique));
	const text = `${JSON.stringify({ version: 1, ...claim })}\n`;
	makeDirectory(directory);
	try {
		writeFileSync(temporary, text, { flag: "wx", flush: true });
		linkSync(temporary, join(directory, name));
		syncDirectory(directory);
	} catch (error) {
		if (systemErrorCode(error) !== "EEXIST") throw error;
	} finally {
		rmSync(temporary, { force: true });
	}
}

/** Makes a directory with those above it, and all of them durable. */
export function makeDirectory(directory: string): void {
	const first = mkdirSync(directory, { recursive: true });
	if (first === undefined) return;
	for (let made = directory; made.length >= first.length; ) {
		made = dirname(made);
		syncDirectory(made);
	}
}

/** What another writer deleted first is no error. */
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

/** Whether files in a directory live in memory and are gone after a restart of the machine. */
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
	try {
		return Object(JSON.parse(readFileSync(path, "utf8")));
	} catch {
		return {};
	}
}
