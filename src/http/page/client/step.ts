/** Moves the focus among the rounds and incidents of the picture. Returns whether the key does that. */
export function stepFrom(stop: Element, key: string): boolean {
	const stops = [...(stop.parentElement?.children ?? [])]
		.filter((each) => each instanceof SVGElement)
		.sort((one, other) => orderOf(one) - orderOf(other));
	const at = stops.findIndex((each) => each.isSameNode(stop));
	const to = {
		ArrowLeft: at - 1,
		ArrowRight: at + 1,
		Home: 0,
		End: stops.length - 1,
	}[key];
	if (to === undefined) return false;
	stops[Math.min(stops.length - 1, Math.max(0, to))]?.focus();
	return true;
}

/** The drawing order is not the order of time. */
function orderOf(stop: SVGElement): number {
	return Number(stop.dataset.order);
}
