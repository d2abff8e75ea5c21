import {
	type Host,
	SECRET_VARIABLES,
	systemHost,
} from "../src/config/index.js";

/**
 * This machine and process; afterwards `process.env` lacks the credentials. So neither a restart policy's module nor a
 * program that is started with the whole environment gets them. The initial environment stays readable as
 * /proc/PID/environ.
 */
export function ownHost(): Host {
	const taken: Record<string, string> = {};
	for (const [name, value] of Object.entries(process.env)) {
		if (value !== undefined) taken[name] = value;
	}
	for (const name of SECRET_VARIABLES) delete process.env[name];
	return systemHost(taken);
}
