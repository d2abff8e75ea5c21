import type {
	LinkedAgent as Agent,
	RecordWrite,
	RecordWritten,
	RideMessage,
} from "../model/index.js";
import {
	type Line,
	type LinkMessage,
	type Passed,
	type RoundNews,
	type Said,
	unsealed,
} from "./messages.js";

/** The agent that was called. */
interface Callee {
	readonly agent: Agent;
	readonly line: Line;
	/** Since when the head is not heard by it; undefined: the head is heard, or was called itself. */
	unheardSince: number | undefined;
	/** Whether it tells this agent what is new of the round. */
	tells: boolean;
}

/** Whom this agent speaks with, and how. */
interface Circle {
	readonly self: Agent;
	readonly head: Agent | undefined;
	/** Whether it belongs to a group, and so is told what is new of the round. */
	readonly isOfGroup: boolean;
}

/** As whose agent the head knows this one, and since when, on the steady clock. */
export interface KnownFor {
	readonly plan: string;
	readonly since: number;
}

interface UplinkOptions {
	readonly now: () => number;
	/** The connection to the head has come, or gone. */
	readonly onOpened: () => void;
	readonly onUnlinked: (head: string) => void;
}

/** What an agent says to the head of its round and hears from it, by a connection to the head or to a speaker. */
export class Uplink {
	private circle: Circle = {
		...{ self: { nodeId: "", incarnation: "" }, head: undefined },
		isOfGroup: false,
	};
	private callee: Callee | undefined;
	private wishes = 0;
	private heardPlan: (KnownFor & { readonly by: string }) | undefined;
	private hearRide: (from: string, message: RideMessage) => void = () => {};
	private hearWritten: (written: RecordWritten | undefined) => void = () => {};
	private hearRound: (news: RoundNews | null) => void = () => {};

	constructor(private readonly options: UplinkOptions) {}

	follow(circle: Circle): void {
		const { head, isOfGroup } = this.circle;
		const isSame =
			head?.incarnation === circle.head?.incarnation &&
			isOfGroup === circle.isOfGroup;
		this.circle = circle;
		if (!isSame && this.callee) this.introduce(this.callee);
	}

	tellHead(ride: RideMessage): void {
		this.say({ kind: "ride", ride });
	}

	askHead(write: RecordWrite): boolean {
		return this.say({ kind: "write", write });
	}

	get knownFor(): KnownFor | undefined {
		const isHeads = this.heardPlan?.by === this.circle.head?.incarnation;
		return isHeads ? this.heardPlan : undefined;
	}

	get isTold(): boolean {
		return this.callee?.tells ?? false;
	}

	onRide(hear: (from: string, message: RideMessage) => void): void {
		this.hearRide = hear;
	}

	onWritten(learn: (written: RecordWritten | undefined) => void): void {
		this.hearWritten = learn;
	}

	onRound(hear: (news: RoundNews | null) => void): void {
		this.hearRound = hear;
	}

	opened(agent: Agent, line: Line): void {
		this.callee = { agent, line, unheardSince: undefined, tells: false };
		this.introduce(this.callee);
	}

	/** The agent that was called and has answered. */
	get called(): Agent | undefined {
		return this.callee?.agent;
	}

	isBy(line: Line): boolean {
		return this.callee?.line === line;
	}

	/** Since when it does not hear the head by its speaker, on the steady clock; undefined: it does, or has no speaker. */
	get unheardSince(): number | undefined {
		return this.callee?.unheardSince;
	}

	/** Who was called was silent for too long. */
	drop(): void {
		this.callee?.line.close("it was silent for too long");
	}

	/** Who was called tells of no changes, until it does so again: the store does. */
	untold(): void {
		const { callee } = this;
		if (!callee?.tells) return;
		callee.tells = false;
		this.hearRound(null);
	}

	unlink(): void {
		const { callee } = this;
		this.callee = undefined;
		this.hearWritten(undefined);
		if (callee?.tells) this.hearRound(null);
		if (callee && this.isHead(callee.agent)) {
			this.options.onUnlinked(callee.agent.incarnation);
		}
	}

	/** Takes a message of the agent that was called. Returns the incarnation of the agent that it is meant for, if it is another. */
	hear(message: LinkMessage): { readonly to: string } | undefined {
		const { callee, circle } = this;
		if (callee === undefined) return undefined;
		const { kind, head = "", agent = "", passed } = message;
		if (kind === "news") this.hearNews(callee, message.news ?? null);
		else if (kind !== "passed") {
			this.learn(callee.agent.incarnation, message);
		} else if (agent !== circle.self.incarnation) {
			return { to: agent };
		} else if (passed && head === circle.head?.incarnation) {
			this.hearSpeaker(callee, head, passed);
		}
		return undefined;
	}

	/** Passes on to the head what an agent of the group has said, or what became of it. */
	pass(agent: string, passed: Passed): void {
		const { callee } = this;
		if (callee === undefined || !this.isHead(callee.agent)) return;
		const head = callee.agent.incarnation;
		callee.line.send({ kind: "passed", agent, head, passed });
	}

	private isHead({ incarnation }: Agent): boolean {
		return incarnation === this.circle.head?.incarnation;
	}

	/** Tells the agent that was called what this one wants from it. */
	private introduce(callee: Callee): void {
		const { head, isOfGroup } = this.circle;
		const isHead = this.isHead(callee.agent);
		callee.unheardSince = isHead ? undefined : this.options.now();
		if (!isOfGroup) this.untold();
		const wanted = isOfGroup || !isHead ? head?.incarnation : undefined;
		this.wishes += 1;
		callee.line.send({ kind: "via", head: wanted, number: this.wishes });
		if (isHead) this.options.onOpened();
		else this.hearWritten(undefined);
	}

	/** Says it to the head. Returns false if the head cannot be reached. */
	private say(said: Said): boolean {
		const { callee, circle } = this;
		if (callee === undefined || callee.unheardSince !== undefined) return false;
		if (this.isHead(callee.agent)) callee.line.send(said);
		else {
			const [agent, head] = [circle.self.incarnation, circle.head?.incarnation];
			callee.line.send({ kind: "passed", agent, head, passed: said });
		}
		return true;
	}

	/** Takes what the speaker passes on from the head, or that the head cannot be reached. */
	private hearSpeaker(callee: Callee, head: string, passed: Passed): void {
		if (passed.kind !== "closed") {
			callee.unheardSince = undefined;
			this.learn(head, passed);
			return;
		}
		callee.unheardSince ??= this.options.now();
		this.hearWritten(undefined);
	}

	/** @param sealed null: there will be no more */
	private hearNews(callee: Callee, sealed: string | null): void {
		const { link } = callee.agent;
		if (!this.circle.isOfGroup || link === undefined) return;
		const news = sealed === null ? null : unsealed(sealed, link.secret);
		if (news === null && !callee.tells) return;
		callee.tells = news !== null;
		this.hearRound(news);
	}

	/** Takes what the agent that was called says, or the head by it. */
	private learn(
		from: string,
		{ kind, plan, ride, written }: Passed | LinkMessage,
	): void {
		if (kind === "known") {
			if (plan === undefined || plan === this.knownFor?.plan) return;
			this.heardPlan = { by: from, plan, since: this.options.now() };
		} else if (kind === "ride") {
			if (ride) this.hearRide(from, ride);
		} else if (kind === "written") {
			const isFromHead = from === this.circle.head?.incarnation;
			if (written && isFromHead) this.hearWritten(written);
		} else throw new Error(`who was called cannot say ${kind}`);
	}
}
