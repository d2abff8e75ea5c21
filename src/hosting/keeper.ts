import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import type { DataDirectory } from "./data-directory.js";
import {
	type ClusterState,
	type KeeperSettings,
	peerUrl,
} from "./etcd-arguments.js";
import { EtcdProcess } from "./etcd-process.js";
import { Gateway, type Member, type Sight } from "./gateway.js";

const LOOK_EVERY_MS = 1_000;
const END_WITHIN_MS = 5_000;
/** An etcd that ends sooner after its start has not served. */
const SERVED_AFTER_MS = 5_000;
const MOST_FAILURES = 5;
const SHORTEST_PAUSE_MS = 100;

export type KeeperEnd =
	/** The run is over, or the etcd was unused for long. */
	| { readonly kind: "done" }
	/** Another process has the ports, perhaps another agent's keeper for this run. */
	| { readonly kind: "taken"; readonly words: string }
	| { readonly kind: "failed"; readonly words: string }
	/** A signal ended it; the data stays for the next keeper. */
	| { readonly kind: "asked" };

/** The exit code by which a keeper tells its agent how it ended. */
export const KEEPER_EXIT: Readonly<Record<KeeperEnd["kind"], number>> = {
	done: 0,
	failed: 1,
	taken: 3,
	asked: 4,
};

/**
 * Keeps one etcd as long as its run uses it, however the agents end. It restarts an etcd that ends by itself on the same
 * data, and stops it when it is no longer needed.
 */
export class Keeper {
	private etcd: EtcdProcess | undefined;
	private end: KeeperEnd | undefined;
	private failures = 0;

	constructor(
		private readonly parts: {
			readonly settings: KeeperSettings;
			readonly data: DataDirectory;
			readonly clock: Clock;
		},
	) {}

	/** Call it on a signal. */
	ask(): void {
		this.endWith({ kind: "asked" });
	}

	async toTheEnd(): Promise<KeeperEnd> {
		const { data, clock, settings } = this.parts;
		data.take();
		data.discardStale(settings.idleMs, clock.wallTime());
		data.touch(clock.wallTime());
		const watching = this.watchUse();
		while (this.end === undefined) await this.runOnce();
		await watching;
		if (this.end.kind === "done") data.remove();
		return this.end;
	}

	private endWith(end: KeeperEnd): void {
		this.end ??= end;
		this.etcd?.signal("SIGTERM");
	}

	private async runOnce(): Promise<void> {
		const { clock, settings, data } = this.parts;
		const state = await this.clusterState();
		if (this.end !== undefined) return;
		const startedAt = clock.now();
		const etcd = new EtcdProcess(settings, state);
		this.etcd = etcd;
		await etcd.ended;
		this.etcd = undefined;
		if (this.end !== undefined) return;
		if (etcd.couldNotBind) {
			this.endWith({ kind: "taken", words: etcd.lastWords });
			return;
		}
		if (settings.places.length > 1 && etcd.isShutOut) data.discardData();
		const hasServed = clock.now() - startedAt >= SERVED_AFTER_MS;
		this.failures = hasServed ? 0 : this.failures + 1;
		if (this.failures >= MOST_FAILURES) {
			this.endWith({ kind: "failed", words: etcd.lastWords });
			return;
		}
		await pause(clock, SHORTEST_PAUSE_MS * 2 ** this.failures);
	}

	/** Waits for as long as the others answer and do not let this member in. */
	private async clusterState(): Promise<ClusterState> {
		const { settings, data, clock } = this.parts;
		const isAlone = settings.places.length === 1;
		while (!isAlone && !data.hasData && this.end === undefined) {
			const entry = await this.enter();
			if (entry !== "refused") return entry;
			await pause(clock, LOOK_EVERY_MS);
		}
		return "new";
	}

	/** Etcd lets a member in once the others have been connected to one another for 5 s. */
	private async enter(): Promise<ClusterState | "refused"> {
		const { settings } = this.parts;
		const { places, member } = settings;
		const own = peerUrl(settings, member);
		let isRefused = false;
		for (const { host, port } of places.filter((_, at) => at !== member)) {
			const gateway = new Gateway({ host, port });
			const members = await gateway.members().catch(() => []);
			const entry = judgeEntry(members, own);
			if (entry === "unknown") continue;
			if (entry === "founder") return "new";
			if (entry === "added") return "existing";
			try {
				if (entry.lost !== undefined) await gateway.removeMember(entry.lost);
				await gateway.addMember([own]);
				return "existing";
			} catch {
				isRefused = true;
			}
		}
		return isRefused ? "refused" : "new";
	}

	private async watchUse(): Promise<void> {
		const { settings, data, clock } = this.parts;
		const { listen, places, member, runId, idleMs, rideOutMs } = settings;
		const gateway = new Gateway({
			host: listen[0] ?? "",
			port: places[member]?.port ?? 0,
		});
		const usedAt = clock.now();
		let memory: UseMemory = { usedAt, lookedAt: usedAt, silentMs: 0 };
		while (this.end === undefined) {
			await pause(clock, LOOK_EVERY_MS);
			const sight = await gateway.look(runId);
			const { hasLeft } = data;
			const limits = { idleMs, rideOutMs, hasLeft };
			const judged = judgeUse(memory, sight, clock.now(), limits);
			memory = judged.memory;
			data.touch(clock.wallTime());
			if (!judged.isDone) continue;
			data.setAside();
			this.endWith({ kind: "done" });
		}
		await this.killWhenLate();
	}

	private async killWhenLate(): Promise<void> {
		const { etcd } = this;
		const { clock } = this.parts;
		if (etcd === undefined) return;
		const hasEnded = etcd.ended.then(() => true);
		if (await within(clock, END_WITHIN_MS, hasEnded)) return;
		etcd.signal("SIGKILL");
	}
}

/** How a member without data comes into its cluster. */
export type Entry =
	/** Nobody tells. */
	| "unknown"
	/** It is one of the first members, and has never run. */
	| "founder"
	/** It was added, and has never run. */
	| "added"
	/** It must be added; before that, who had its place and lost the data is removed, so that it never votes twice. */
	| { readonly lost: string | undefined };

/** @param members as one of them lists them */
export function judgeEntry(members: readonly Member[], own: string): Entry {
	if (members.length === 0) return "unknown";
	const listed = members.find(({ peerUrls }) => peerUrls.includes(own));
	if (listed === undefined) return { lost: undefined };
	if (listed.clientUrls.length > 0) return { lost: listed.id };
	return listed.name === "" ? "added" : "founder";
}

/** What a keeper remembers between looks; times in milliseconds. */
export interface UseMemory {
	/** When it was last seen in use, or else when the keeper began. */
	readonly usedAt: number;
	readonly lookedAt: number;
	/** For how long it has not answered since, although nodes held leases before. */
	readonly silentMs: number;
	/** When it last answered, no node held a lease. */
	readonly isDeserted?: boolean | undefined;
	/** Since when the run is over. */
	readonly overSince?: number | undefined;
}

interface UseLimits {
	/** How long it may stay unused. */
	readonly idleMs: number;
	/** How long rounds go on while it does not answer: that time does not count. */
	readonly rideOutMs: number;
	/** The agent here has left regularly, so every other node of the run holds a lease. */
	readonly hasLeft: boolean;
}

/** How long etcd stays after the run's end, for nodes that still read the outcome. */
const OVER_MS = 5_000;
/** How long a deserted etcd stays after its agent has left regularly. */
const LEFT_MS = 10_000;

/** Whether the etcd is no longer needed. If it does not answer, the earlier state counts. */
export function judgeUse(
	before: UseMemory,
	sight: Sight,
	now: number,
	{ idleMs, rideOutMs, hasLeft }: UseLimits,
): { readonly memory: UseMemory; readonly isDone: boolean } {
	const memory = remember(before, sight, now);
	const isOver =
		memory.overSince !== undefined && now - memory.overSince >= OVER_MS;
	const desertedMs = now - memory.usedAt;
	const isLeft = hasLeft && memory.isDeserted === true && desertedMs >= LEFT_MS;
	const idleFor = desertedMs - Math.min(memory.silentMs, rideOutMs);
	return { memory, isDone: isOver || isLeft || idleFor >= idleMs };
}

function remember(before: UseMemory, sight: Sight, now: number): UseMemory {
	const { usedAt, lookedAt, silentMs, overSince } = before;
	switch (sight) {
		case "used":
			return { usedAt: now, lookedAt: now, silentMs: 0 };
		case "over":
			return { usedAt, lookedAt: now, silentMs, overSince: overSince ?? now };
		case "deserted":
			return { usedAt, lookedAt: now, silentMs, isDeserted: true };
		case "unknown": {
			const longer = before.isDeserted ? 0 : now - lookedAt;
			return { ...before, lookedAt: now, silentMs: silentMs + longer };
		}
	}
}
