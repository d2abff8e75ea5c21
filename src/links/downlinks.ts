import { randomBytes } from "node:crypto";
import type {
	LinkedAgent as Agent,
	RecordWrite,
	RideMessage,
} from "../model/index.js";
import {
	type Line,
	type LinkMessage,
	type Passed,
	type RoundNews,
	type Said,
	sealed,
	withSecretHidden,
} from "./messages.js";
import type { Peers } from "./peers.js";

/** Of longer news it is only told that there are some: the size of a message is limited. In characters. */
const LONGEST_NEWS = 40_000;

/** All that a member may say to the head by its speaker. At anything else the head would close the speaker's connection. */
const SAID_BY_SPEAKER: readonly Passed["kind"][] = ["ride", "write"];

/** An agent that has called this one, itself or by its speaker. */
interface Caller {
	readonly agent: Agent;
	/** Its own line, or its speaker's. */
	readonly line: Line;
	readonly isPassed: boolean;
	/** The head that it wants to speak with by this agent, its speaker. */
	wants: string | undefined;
	/** Numbers that wish: the highest is the newest. */
	number: number;
	/** Whether the head was told that it is silent. */
	isSilent?: boolean;
}

interface DownlinksOptions {
	readonly now: () => number;
	readonly peers: Peers;
	/** Its link has ended. `inOrder`: it has said so. */
	readonly onClosed: (incarnation: string, inOrder: boolean) => void;
	readonly self: () => Agent;
	readonly head: () => Agent | undefined;
	/** Passes on to the head what an agent has said, or what has become of it. */
	readonly pass: (agent: string, passed: Passed) => void;
}

/** What an agent says to its callers and hears from them: it is their head or their speaker. */
export class Downlinks {
	/** By incarnation: where each agent was last heard. */
	private readonly callers = new Map<string, Caller>();
	/**
	 * The plan whose head this agent is, and all that were linked with it since, but for those that have left or are known to
	 * be dead: without a word from each of them nobody works on without the store. A node's new process proves no death.
	 */
	private plan: string | undefined;
	private readonly knownAgents = new Set<string>();
	/** What its group knows of the round. */
	private told: RoundNews | undefined;
	/** The revision of the last news without keys, as after a key was deleted. */
	private unnamed = 0;
	private hearRide: (from: string, message: RideMessage) => void = () => {};
	private hearWrite: (from: Agent, write: RecordWrite) => void = () => {};

	constructor(private readonly options: DownlinksOptions) {}

	get isCalled(): boolean {
		return this.callers.size > 0;
	}

	/** Whether an agent of its group speaks with the head by this one. */
	get isWanted(): boolean {
		const { head } = this;
		return [...this.callers.values()].some(
			({ wants }) => wants !== undefined && wants === head,
		);
	}

	has(incarnation: string): boolean {
		return this.callers.has(incarnation);
	}

	get known(): ReadonlySet<string> {
		return new Set(this.knownAgents);
	}

	begin(plan: string): void {
		this.plan = plan;
		for (const incarnation of this.knownAgents) {
			if (!this.callers.has(incarnation)) this.knownAgents.delete(incarnation);
		}
		for (const one of this.callers.values())
			this.say(one, { kind: "known", plan });
	}

	onRide(hear: (from: string, message: RideMessage) => void): void {
		this.hearRide = hear;
	}

	onWrite(take: (from: Agent, write: RecordWrite) => void): void {
		this.hearWrite = take;
	}

	/** Says it to one agent. */
	tell(incarnation: string, said: Said): void {
		const caller = this.callers.get(incarnation);
		if (caller) this.say(caller, said);
	}

	/** Says it to all that have called it themselves. */
	tellAll(message: LinkMessage): void {
		for (const { line, isPassed } of this.callers.values()) {
			if (!isPassed) line.send(message);
		}
	}

	/** Tells its group what is new of the round; null: it will hear of no more changes. */
	tellRound(news: RoundNews | null): void {
		const { told } = this;
		if (news === null) {
			this.told = undefined;
			this.unnamed = 0;
			if (told) this.tellGroup(null);
			return;
		}
		const revision = Math.max(news.revision, told?.revision ?? 0);
		const known = told?.entries ?? [];
		if (news.entries.length === 0) {
			if (news.revision <= this.unnamed) return;
			this.unnamed = news.revision;
			this.told = { revision, entries: [] };
			this.tellGroup(news);
			return;
		}
		const entries = news.entries.filter(({ key, modRevision }) =>
			known.every((one) => one.key !== key || one.modRevision < modRevision),
		);
		const others = known.filter(({ key }) =>
			entries.every((one) => one.key !== key),
		);
		this.told = { revision, entries: [...others, ...entries] };
		if (entries.length > 0) this.tellGroup({ revision, entries });
	}

	opened(agent: Agent, line: Line): void {
		this.enter({ agent, line, isPassed: false, wants: undefined, number: 0 });
	}

	/** If it was a speaker's, the links of its group end too. */
	closed(line: Line): void {
		for (const caller of this.callers.values()) {
			if (caller.line === line) this.lose(caller.agent.incarnation);
		}
	}

	/** It was silent for too long. */
	drop(incarnation: string): void {
		const { line, isPassed } = this.callers.get(incarnation) ?? {};
		if (!isPassed) line?.close("it was silent for too long");
	}

	/** Its guard says that nothing of it is left. */
	forget(incarnation: string): void {
		this.knownAgents.delete(incarnation);
		this.options.pass(incarnation, { kind: "gone" });
	}

	/** Takes a message of an agent that has called. */
	hear(incarnation: string, line: Line, message: LinkMessage): void {
		const caller = this.callers.get(incarnation);
		if (caller?.line !== line || caller.isPassed) return;
		const { kind, head, agent, passed, number = 0 } = message;
		if (kind === "ping") {
			this.options.peers.heard(caller.agent, this.options.now());
			if (caller.isSilent) this.report(caller, "heard");
		} else if (kind === "via") {
			Object.assign(caller, { wants: head, number });
			this.passOpened(caller);
			if (head !== undefined && this.told) this.tellRoundTo([line], this.told);
		} else if (kind !== "passed") this.take(caller, message);
		else if (agent === undefined || passed === undefined) return;
		else if (head === this.options.self().incarnation) {
			this.hearPassed(line, agent, passed);
		} else if (agent === incarnation && head === this.head) {
			const { kind } = passed;
			if (!SAID_BY_SPEAKER.includes(kind)) throw new Error(cannotSay(kind));
			this.options.pass(agent, passed);
		}
	}

	/** Tells the head who is silent, which it cannot see itself. */
	reportSilent(): void {
		const { peers, now } = this.options;
		for (const caller of this.callers.values()) {
			const { agent, isPassed, isSilent, wants } = caller;
			if (isPassed || isSilent || wants !== this.head) continue;
			const silentMs = peers.silentMs(agent.incarnation, now());
			if (silentMs > 0) this.report(caller, "silent");
		}
	}

	/** Passes on what the head says to an agent of the group. */
	passOn(agent: string, message: LinkMessage): void {
		const to = this.callers.get(agent);
		if (to?.wants === message.head) to?.line.send(message);
	}

	/** The head can be reached: tells it who is in the group. */
	introduceAll(): void {
		for (const caller of this.callers.values()) this.passOpened(caller);
	}

	/** The head cannot be reached any more: tells the group. */
	tellOfEnd(head: string): void {
		const passed = { kind: "closed" } as const;
		for (const { agent, line, wants } of this.callers.values()) {
			if (wants !== head) continue;
			line.send({ kind: "passed", agent: agent.incarnation, head, passed });
		}
	}

	private get head(): string | undefined {
		return this.options.head()?.incarnation;
	}

	private tellGroup(news: RoundNews | null): void {
		const lines = [...this.callers.values()].flatMap(({ line, wants }) =>
			wants === undefined ? [] : [line],
		);
		if (lines.length > 0) this.tellRoundTo(lines, news);
	}

	private tellRoundTo(lines: readonly Line[], news: RoundNews | null): void {
		const { link } = this.options.self();
		if (link === undefined) return;
		const text = news && sealed(news, link.secret);
		const isLong = text !== null && text.length > LONGEST_NEWS;
		const short = news && isLong ? { ...news, entries: [] } : undefined;
		const told = short ? sealed(short, link.secret) : text;
		for (const line of lines) line.send({ kind: "news", news: told });
	}

	/** Says no more than that: the agent may be dead by now, or have another speaker. */
	private report(caller: Caller, kind: "silent" | "heard"): void {
		caller.isSilent = kind === "silent";
		this.options.pass(caller.agent.incarnation, { kind });
	}

	private passOpened(caller: Caller): void {
		const { agent, wants, number } = caller;
		caller.isSilent = false;
		const secret = this.options.head()?.link?.secret;
		if (wants !== this.head || secret === undefined) return;
		const nonce = randomBytes(16).toString("hex");
		const link = withSecretHidden(agent.link, secret, nonce);
		const opened = { ...agent, link };
		const passed = { kind: "opened", opened, nonce, number } as const;
		this.options.pass(agent.incarnation, passed);
	}

	/** This agent is the head: takes what a speaker passes on. */
	private hearPassed(line: Line, from: string, passed: Passed): void {
		const { kind, opened, nonce, number = 0 } = passed;
		const caller = this.callers.get(from);
		if (kind === "opened") {
			const { link } = this.options.self();
			if (opened?.incarnation !== from || !nonce || !link) return;
			// It has called another speaker since.
			if (caller && caller.number > number) return;
			const own = withSecretHidden(opened.link, link.secret, nonce);
			const agent = { ...opened, link: own };
			this.enter({ agent, line, isPassed: true, wants: undefined, number });
			return;
		}
		if (kind === "gone") this.knownAgents.delete(from);
		else if (caller?.line !== line || !caller.isPassed) return;
		else if (kind === "closed") this.lose(from);
		else if (kind === "silent" || kind === "heard") {
			const { peers, now } = this.options;
			peers.reported(from, now(), kind === "silent");
		} else this.take(caller, passed);
	}

	private say({ agent, line, isPassed }: Caller, said: Said): void {
		if (!isPassed) line.send(said);
		else {
			const [to, head] = [agent.incarnation, this.options.self().incarnation];
			line.send({ kind: "passed", agent: to, head, passed: said });
		}
	}

	private enter(caller: Caller): void {
		const { agent, isPassed } = caller;
		const { incarnation } = agent;
		const { peers, now } = this.options;
		const before = this.callers.get(incarnation);
		this.knownAgents.add(incarnation);
		this.callers.set(incarnation, caller);
		peers.opened(agent, now(), isPassed);
		if (!before?.isPassed)
			before?.line.close("the same agent has called again");
		this.say(caller, { kind: "known", plan: this.plan });
	}

	private lose(incarnation: string): void {
		const { onClosed, pass } = this.options;
		this.callers.delete(incarnation);
		onClosed(incarnation, false);
		pass(incarnation, { kind: "closed" });
	}

	/** Takes what a caller says to this agent. */
	private take(
		{ agent }: Caller,
		{ kind, leaves, ride, write }: Passed | LinkMessage,
	): void {
		const { incarnation } = agent;
		const { onClosed, pass } = this.options;
		if (kind === "ride") {
			if (ride) this.hearRide(incarnation, ride);
		} else if (kind === "write") {
			if (write) this.hearWrite(agent, write);
		} else if (kind === "bye") {
			// Who only hangs up may still count on it that nobody rides without its word.
			if (leaves) this.knownAgents.delete(incarnation);
			pass(incarnation, { kind: "bye", leaves });
			this.callers.delete(incarnation);
			onClosed(incarnation, true);
		} else throw new Error(cannotSay(kind));
	}
}

const cannotSay = (kind: string) => `a caller cannot say ${kind}`;
