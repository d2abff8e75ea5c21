import { ANSWER_COUNTS_FOR, RIDES_END } from "../planner/riders.js";

/** More polls than are asked before the first of them is of no use. */
const MOST_POLLS = 128;

/** What an agent says of the store: it is away for it too, or it is back. */
export interface Answer {
	readonly kind: "away" | "back";
	readonly poll: number;
	readonly isMember: boolean;
}

/** The steady times of polls, by number. */
export class PollTimes {
	private readonly times = new Map<number, number>();

	note(poll: number, time: number): void {
		const { times } = this;
		times.set(poll, time);
		const [oldest] = times.keys();
		if (times.size > MOST_POLLS && oldest !== undefined) times.delete(oldest);
	}

	get(poll: number): number | undefined {
		return this.times.get(poll);
	}

	clear(): void {
		this.times.clear();
	}
}

/** What the head of a round has asked, and what the agents have answered, by incarnation. Times count a machine's sleep. */
export class Answers {
	private readonly asked = new PollTimes();
	private readonly newest = new Map<string, Answer>();
	private poll = 0;

	constructor(private readonly leaseTtlMs: number) {}

	/** The number of the next poll. */
	ask(time: number): number {
		this.poll += 1;
		this.asked.note(this.poll, time);
		return this.poll;
	}

	/** Returns whether the answer is no older than what is known. */
	take(from: string, answer: Answer): boolean {
		const known = this.newest.get(from);
		if (known !== undefined && known.poll > answer.poll) return false;
		this.newest.set(from, answer);
		return true;
	}

	/** The poll that an agent answered last. */
	pollOf(agent: string): number {
		return this.newest.get(agent)?.poll ?? 0;
	}

	/** How many of these agents are members; undefined if one has not lately answered so. */
	membersIfAll(
		kind: Answer["kind"],
		agents: Iterable<string>,
		time: number,
	): number | undefined {
		let members = 0;
		for (const one of agents) {
			const answer = this.newest.get(one);
			if (answer?.kind !== kind || !this.isFresh(answer, time))
				return undefined;
			if (answer.isMember) members += 1;
		}
		return members;
	}

	/** How many members have lately said that it is away. */
	membersAway(time: number): number {
		return [...this.newest.values()].filter(
			(one) => one.kind === "away" && one.isMember && this.isFresh(one, time),
		).length;
	}

	/** Whether one may still rely on what it promised with its answer. */
	isPromiseLeft(time: number): boolean {
		return [...this.newest.values()].some(
			(one) => one.kind === "away" && this.isAsked(one, RIDES_END, time),
		);
	}

	clear(): void {
		this.asked.clear();
		this.newest.clear();
	}

	private isFresh(answer: Answer, time: number): boolean {
		return this.isAsked(answer, ANSWER_COUNTS_FOR, time);
	}

	/** Whether the poll of this answer was asked within so many times to live of a lease. */
	private isAsked({ poll }: Answer, ttls: number, time: number): boolean {
		const at = this.asked.get(poll);
		return at !== undefined && at >= time - ttls * this.leaseTtlMs;
	}
}
