/**
 * SIGUSR1 makes Node listen for a debugger, by which any user of the machine could run code as this user. A listener,
 * installed before anything else, prevents that.
 */
process.on("SIGUSR1", () => {});
// Unhandled, it would end a launcher whose workers do not run yet, and an etcd's keeper.
process.on("SIGUSR2", () => {});

/**
 * Closes an inspector that a signal opened before that listener, or that NODE_OPTIONS asks for: the workers inherit
 * NODE_OPTIONS, and their ports must be free.
 */
export function closeUnaskedInspector(): void {
	if (process.execArgv.some((word) => word.startsWith("--inspect"))) return;
	const inspector = process.getBuiltinModule("node:inspector");
	if (inspector?.url() !== undefined) inspector.close();
}
