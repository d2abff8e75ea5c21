// What the demos of several nodes have in common that tell what happens as it happens.

/** Writes lines with the time before them, and waits for what is told to come true. */
export class Teller {
	#startedAt = performance.now();
	#print;
	#wishes = [];

	constructor(print) {
		this.#print = print;
	}

	note(who, text) {
		const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2);
		this.#print(`${seconds.padStart(7)} s  ${who.padEnd(8)}  ${text}`);
	}

	/** Resolves with the first result of `look` that counts as true: it looks whenever something was heard. */
	comesTrue(look) {
		return new Promise((resolve) => {
			this.#wishes.push(() => {
				const found = look();
				if (found) resolve(found);
				return found;
			});
			this.lookAgain();
		});
	}

	/** To be called when something was heard. */
	lookAgain() {
		this.#wishes = this.#wishes.filter((wish) => !wish());
	}
}
