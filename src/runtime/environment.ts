/**
 * The only file of the runtime library that reads the environment.
 */
import { PARKED_BY } from "../channel/index.js";

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

/** The launcher that this process waits for; undefined if it was started to run. The script does not see it. */
export function parkedBy(): number | undefined {
	const launcher = textOf(PARKED_BY);
	delete process.env[PARKED_BY];
	return launcher === undefined ? undefined : Number(launcher);
}

/** Makes these all variables of this process, in this order. Throws if they are no variables. */
export function replaceVariables(variables: unknown): void {
	if (typeof variables !== "object" || variables === null) {
		throw new TypeError("the environment is not an object");
	}
	for (const name of Object.keys(process.env)) delete process.env[name];
	Object.assign(process.env, variables);
}

function textOf(name: string): string | undefined {
	const value = process.env[name];
	return value === "" ? undefined : value;
}
