import { SECRET_VARIABLES } from "../src/config/environment.js";

/**
 * The variables of this process; afterwards `process.env` lacks the credentials. So neither a restart policy's module nor
 * a program that is started with the whole environment gets them. The initial environment stays readable as
 * /proc/PID/environ.
 */
export function takeEnvironment(): Readonly<Record<string, string>> {
	const taken: Record<string, string> = {};
	for (const [name, value] of Object.entries(process.env)) {
		if (value !== undefined) taken[name] = value;
	}
	for (const name of SECRET_VARIABLES) delete process.env[name];
	return taken;
}
