/** Calls a function of the user's program, which may be async. Never rejects: an error of its own goes to `onError`. */
export async function callUser(
	call: () => unknown,
	onError: (error: unknown) => void,
): Promise<void> {
	try {
		await call();
	} catch (error) {
		onError(error);
	}
}
