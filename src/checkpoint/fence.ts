// Keeps out the workers of older rounds, and records the run's rounds; the reasoning is in checkpoint-order.ts.
import type { Clock } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import { meanTimeBetweenInterruptionsMs } from "./cadence.js";
import {
	claimRound,
	type DirectoryListing,
	listDirectory,
	readClaims,
} from "./directory.js";
import type { CheckpointDisk } from "./disk.js";
import {
	type CheckpointToken,
	compareTokens,
	highestToken,
	loadOrder,
	parseCheckpointFileName,
	type RoundClaim,
} from "./order.js";

export interface FenceConfig {
	readonly directory: string;
	readonly token: CheckpointToken;
	/** All workers of the round have this same token, so that one worker's load can bind the others. */
	readonly tokenIsShared: boolean;
	readonly clock: Clock;
	readonly disk: CheckpointDisk;
	/** Hexadecimal digits that no other writer uses. */
	readonly unique: string;
	readonly warn: (message: string) => void;
}

export class RoundFence {
	private readonly config: FenceConfig;
	/** The file from which this worker began; null for none, undefined before it has loaded. */
	private base: string | null | undefined;
	/** The rounds of this start of the run, oldest first. */
	private rounds: readonly RoundClaim[] = [];

	constructor(config: FenceConfig) {
		this.config = config;
	}

	/** Throws an ElasticRunError if a newer round has written to the directory. */
	refuseIfSuperseded(listing: DirectoryListing): void {
		const { directory, token } = this.config;
		const highest = highestToken([...listing.files, ...listing.claimTokens]);
		if (highest === undefined || compareTokens(highest, token) <= 0) return;
		throw new ElasticRunError(
			"CHECKPOINT",
			`A newer round has taken over the checkpoints in ${directory}: ${describe(highest)} has written there, and this worker belongs to ${describe(token)}. Nothing of the newer round was touched. Let this worker end. If nothing of a newer round is alive (this machine's clock may be behind), open the checkpoints with a token of a higher instance.`,
		);
	}

	/**
	 * Decides that this worker continues from `base`, and with `claims` its whole round. Returns false if that failed:
	 * something newer appeared meanwhile, or another worker of the round was first with another file.
	 */
	settle(
		base: string | null,
		damaged: ReadonlySet<string>,
		claims: boolean,
	): boolean {
		this.base = base;
		if (!claims) return true;
		const listing = listDirectory(this.config.directory);
		if (!this.hasClaim(listing)) {
			if (this.newest(listing, damaged) !== base) return false;
			this.claim(base);
		}
		const own = this.readRounds().find((claim) => this.isOwn(claim));
		if (own?.base === undefined || own.base === base) return true;
		const file = base === null ? undefined : parseCheckpointFileName(base);
		return file !== undefined && this.isOwn(file);
	}

	/** Claims the round for a worker that saves without a claim. */
	claimOnce(listing: DirectoryListing): void {
		if (this.hasClaim(listing)) return;
		this.claim(
			this.base === undefined ? this.newest(listing, new Set()) : this.base,
		);
		this.readRounds();
	}

	/** From the rounds of this start of the run: each one except the first follows an interruption. */
	meanTimeBetweenInterruptionsMs(): number {
		const [first] = this.rounds;
		return meanTimeBetweenInterruptionsMs(
			first === undefined
				? { observedMs: 0, interruptions: 0 }
				: {
						observedMs: this.config.clock.wallTime() - first.claimedAt,
						interruptions: this.rounds.length - 1,
					},
		);
	}

	private claim(base: string | null): void {
		const { directory, token, clock, disk, unique, warn } = this.config;
		try {
			claimRound(
				disk,
				directory,
				{ ...token, base, claimedAt: clock.wallTime() },
				unique,
			);
		} catch (error) {
			warn(
				`This round could not be noted in ${directory}, so that late saves of older rounds are not recognised: ${messageOf(error)}`,
			);
		}
	}

	private readRounds(): readonly RoundClaim[] {
		const { directory, token } = this.config;
		const { claimTokens } = listDirectory(directory);
		this.rounds = readClaims(
			directory,
			claimTokens.filter(({ instance }) => instance === token.instance),
		).filter(({ claimedAt }) => Number.isFinite(claimedAt));
		return this.rounds;
	}

	private newest(
		{ files, claimTokens }: DirectoryListing,
		damaged: ReadonlySet<string>,
	): string | null {
		const order = loadOrder(
			files,
			readClaims(this.config.directory, claimTokens),
		);
		return order.find(({ name }) => !damaged.has(name))?.name ?? null;
	}

	private hasClaim(listing: DirectoryListing): boolean {
		return listing.claimTokens.some((token) => this.isOwn(token));
	}

	private isOwn(token: CheckpointToken): boolean {
		return compareTokens(token, this.config.token) === 0;
	}
}

function describe({ instance, round }: CheckpointToken): string {
	return `instance ${instance}, round ${round}`;
}
