/**
 * The only file of the runtime library that reads the environment.
 */

/** The channel's directory; undefined where this process was not started by elastic-run. */
export function channelDirectory(): string | undefined {
	return textOf("ELASTIC_RUN_CHANNEL");
}

/** Where this process leaves what ended it; undefined outside of a launcher. */
export function errorFile(): string | undefined {
	return textOf("TORCHELASTIC_ERROR_FILE");
}

/** All variables, for a process that torchrun or another launcher of its kind has started. */
export function variables(): Readonly<Record<string, string | undefined>> {
	return process.env;
}

function textOf(name: string): string | undefined {
	const value = process.env[name];
	return value === "" ? undefined : value;
}
