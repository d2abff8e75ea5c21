interface Event {
	readonly at: number;
	readonly sequence: number;
	run: (() => unknown) | undefined;
}

/** What an event returns that has touched no promise: the next one may follow at once. */
export const QUIET = Symbol("quiet");

/** How many events are played in one turn of Node's event loop. */
const BATCH = 64;
/** Far more than any run needs. */
const MOST_EVENTS = 200_000;

/** The one queue of everything that will happen, in order of time and then of being scheduled. */
export class Timeline {
	private readonly heap: Event[] = [];
	private scheduled = 0;
	private time = 0;

	/** Milliseconds since the simulation began. */
	get now(): number {
		return this.time;
	}

	/** Events that have happened. */
	happened = 0;

	/** Returns a function that cancels it. */
	at(at: number, run: () => unknown): () => void {
		this.scheduled += 1;
		const event: Event = {
			at: Math.max(at, this.time),
			sequence: this.scheduled,
			run,
		};
		this.push(event);
		return () => {
			event.run = undefined;
		};
	}

	after(delayMs: number, run: () => unknown): () => void {
		return this.at(this.time + delayMs, run);
	}

	/**
	 * Lets everything happen that is due until then; promises settle after each event
	 * that is not quiet. Stops before that where so much happens that it must go round
	 * in circles.
	 */
	runUntil(end: number): Promise<void> {
		return new Promise((resolve, reject) => {
			let over = false;
			const step = () => {
				if (over) return;
				try {
					over = !this.happenNext(end);
				} catch (error) {
					over = true;
					reject(error);
				}
			};
			// Node lets promises settle after each of these; a batch spares turns of its loop.
			const batch = () => {
				for (let index = 0; index < BATCH; index++) setImmediate(step);
				setImmediate(() => (over ? resolve() : batch()));
			};
			batch();
		});
	}

	/** Returns false where nothing more is due until then. */
	private happenNext(end: number): boolean {
		for (;;) {
			const next = this.heap[0];
			const tooMany = this.happened >= MOST_EVENTS;
			if (next === undefined || next.at > end || tooMany) {
				this.time = Math.max(this.time, end);
				return false;
			}
			this.pop();
			if (next.run === undefined) continue;
			this.time = next.at;
			this.happened += 1;
			if (next.run() !== QUIET) return true;
		}
	}

	private push(event: Event): void {
		const { heap } = this;
		let index = heap.length;
		while (index > 0) {
			const above = (index - 1) >> 1;
			const parent = heap[above];
			if (parent === undefined || !isBefore(event, parent)) break;
			heap[index] = parent;
			index = above;
		}
		heap[index] = event;
	}

	private pop(): void {
		const { heap } = this;
		const last = heap.pop();
		if (last === undefined || heap.length === 0) return;
		let index = 0;
		for (;;) {
			const left = 2 * index + 1;
			const [one, other] = [heap[left], heap[left + 1]];
			if (one === undefined) break;
			const otherFirst = other !== undefined && isBefore(other, one);
			const child = otherFirst ? other : one;
			if (!isBefore(child, last)) break;
			heap[index] = child;
			index = otherFirst ? left + 1 : left;
		}
		heap[index] = last;
	}
}

function isBefore(left: Event, right: Event): boolean {
	return (
		left.at < right.at ||
		(left.at === right.at && left.sequence < right.sequence)
	);
}
