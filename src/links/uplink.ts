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
	/** Since when nothing of the head is heard by it; undefined: it is, or is the head. */
	unheardSince: number | undefined;
	/** Whether it tells of changes of the round. */
	tells: boolean;
}

/** Where this agent is heard, and by whom. */
interface Circle {
	readonly self: Agent;
	readonly head: Agent | undefined;
	/** Whether the agent is one of a group: it is told of the round's changes. */
	readonly isOfGroup: boolean;
}

interface UplinkOptions {
	readonly now: () => number;
	/** The connection to the head has come, or gone. */
	readonly onOpened: () => void;
	readonly onUnlinked: (head: string) => void;
}

/** What an agent says to the head of its round and hears of it, by a connection to it or to a speaker. */
export class Uplink {
	private circle: Circle = {
		...{ self: { nodeId: "", incarnation: "" }, head: undefined },
		isOfGroup: false,
	};
	private callee: Callee | undefined;
	private wishes = 0;
	private heardPlan:
		| { readonly by: string; readonly plan: string; readonly since: number }
		| undefined;
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

	get knownFor():
		| { readonly plan: string; readonly since: number }
		| undefined {
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

	/** Since when it hears nothing of the head by a speaker, on the steady clock; undefined: it hears it, or has no speaker. */
	get unheardSince(): number | undefined {
		return this.callee?.unheardSince;
	}

	/** Who was called was silent for too long. */
	drop(): void {
		this.callee?.line.close("it was silent for too long");
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

	/** What the agent says that was called. Returns what is meant for another one, by its incarnation. */
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

	/** Passes on to the head what an agent of the group has said, or what has become of it. */
	pass(agent: string, passed: Passed): void {
		const { callee } = this;
		if (callee === undefined || !this.isHead(callee.agent)) return;
		const head = callee.agent.incarnation;
		callee.line.send({ kind: "passed", agent, head, passed });
	}

	private isHead({ incarnation }: Agent): boolean {
		return incarnation === this.circle.head?.incarnation;
	}

	/** Says to the agent that was called what it is to do for this one. */
	private introduce(callee: Callee): void {
		const { head, isOfGroup } = this.circle;
		const isHead = this.isHead(callee.agent);
		callee.unheardSince = isHead ? undefined : this.options.now();
		if (callee.tells && !isOfGroup) {
			callee.tells = false;
			this.hearRound(null);
		}
		const wanted = isOfGroup || !isHead ? head?.incarnation : undefined;
		this.wishes += 1;
		callee.line.send({ kind: "via", head: wanted, number: this.wishes });
		if (isHead) this.options.onOpened();
		else this.hearWritten(undefined);
	}

	/** Says it to the head. Returns false if it cannot be heard there. */
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

	/** An agent hears the head by its speaker, or that it does not. */
	private hearSpeaker(callee: Callee, head: string, passed: Passed): void {
		if (passed.kind !== "closed") {
			callee.unheardSince = undefined;
			this.learn(head, passed);
			return;
		}
		callee.unheardSince ??= this.options.now();
		this.hearWritten(undefined);
	}

	/** @param sealed null: who was called hears of no changes any more */
	private hearNews(callee: Callee, sealed: string | null): void {
		const { link } = callee.agent;
		if (!this.circle.isOfGroup || link === undefined) return;
		const news = sealed === null ? null : unsealed(sealed, link.secret);
		if (news === null && !callee.tells) return;
		callee.tells = news !== null;
		this.hearRound(news);
	}

	/** Learns what an agent says that is called. */
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
