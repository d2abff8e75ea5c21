/** Passes each different message on once. */
export function onceEach(
	warn: (message: string) => void,
): (message: string) => void {
	const said = new Set<string>();
	return (message) => {
		if (said.has(message)) return;
		said.add(message);
		warn(message);
	};
}
