export interface AskProgram {
	/** All that it gets. */
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly withinMs: number;
}

/** What a program prints; undefined if it is missing, fails, or is not done in time. Loads its package when called. */
export async function askProgram(
	file: string,
	args: readonly string[],
	{ env, withinMs: timeout }: AskProgram,
): Promise<string | undefined> {
	const { execa } = await import("execa");
	const about = { env, timeout, extendEnv: false, reject: false } as const;
	const { failed, stdout } = await execa(file, args, about);
	return failed ? undefined : stdout;
}
