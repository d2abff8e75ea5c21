// Random numbers whose whole state is one number, so that a checkpoint can keep
// it (mulberry32). Math.random cannot be continued after a restart.

/** A generator that goes on from `state`: `next()` gives a number from 0 (inclusive) to 1. */
export function generatorFrom(state) {
	return {
		state,
		next() {
			this.state = (this.state + 0x6d2b79f5) >>> 0;
			let bits = this.state;
			bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
			bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
			return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
		},
	};
}

/** The numbers below `count` in random order. */
export function shuffled(count, generator) {
	const order = Uint32Array.from({ length: count }, (_, index) => index);
	for (let last = count - 1; last > 0; last -= 1) {
		const other = Math.floor(generator.next() * (last + 1));
		[order[last], order[other]] = [order[other], order[last]];
	}
	return order;
}
