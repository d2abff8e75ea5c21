// How workers agree on one state when they meet: it goes out from the lowest rank
// of those that have come furthest. A survivor counts more than a checkpoint.

/** Makes all workers of a group train what the furthest survivor has. */
export async function agreeOnState(training, isSurvivor, worker, group) {
	const source = await furthest(training.state.step, isSurvivor, worker, group);
	const own = pack(training.state);
	// All but one add nothing, so that the sum is what that one has.
	const shared = worker.rank === source ? own : new Float64Array(own.length);
	await group.sum(shared);
	training.goOnFrom(unpack(shared));
}

/** The rank whose state counts. */
async function furthest(step, isSurvivor, { rank, worldSize }, group) {
	const claims = new Float64Array(2 * worldSize);
	claims[rank] = isSurvivor ? 1 : 0;
	claims[worldSize + rank] = step;
	await group.sum(claims);
	const survives = claims.subarray(0, worldSize);
	const steps = claims.subarray(worldSize);
	let best = 0;
	for (let other = 1; other < worldSize; other += 1) {
		const isBetter =
			survives[other] > survives[best] ||
			(survives[other] === survives[best] && steps[other] > steps[best]);
		if (isBetter) best = other;
	}
	return best;
}

function pack({ step, epoch, generator, dataPosition, parameters, optimizer }) {
	const { weights } = parameters;
	return Float64Array.of(
		...[step, epoch, generator, dataPosition],
		...weights,
		...optimizer.velocity,
	);
}

function unpack(array) {
	const [step, epoch, generator, dataPosition, ...numbers] = array;
	const half = numbers.length / 2;
	return {
		step,
		epoch,
		generator,
		dataPosition,
		parameters: { weights: Float64Array.from(numbers.slice(0, half)) },
		optimizer: { velocity: Float64Array.from(numbers.slice(half)) },
	};
}
