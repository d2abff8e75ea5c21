/**
 * The only file of the runtime library that reads the environment.
 */

/** The channel's directory; undefined if elastic-run did not start this process. */
export function channelDirectory(): string | undefined {
	return textOf("ELASTIC_RUN_CHANNEL");
}

/** The directory of the launcher's hook; undefined if this process has none. */
export function hookDirectory(): string | undefined {
	return textOf("ELASTIC_RUN_HOOK");
}

/** The file for the error that ends this process; undefined without a launcher. */
export function errorFile(): string | undefined {
	return textOf("TORCHELASTIC_ERROR_FILE");
}

/** All variables, for a process started by torchrun or a similar launcher. */
export function variables(): Readonly<Record<string, string | undefined>> {
	return process.env;
}

function textOf(name: string): string | undefined {
	const value = process.env[name];
	return value === "" ? undefined : value;
}
