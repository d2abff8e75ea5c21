import type { Environment } from "./settings.js";

/** What Kubernetes writes into each pod of a namespace for a Service named `elastic-run-master`, or `pet`. */
const INJECTED =
	/^(?:ELASTIC_RUN|PET)(?:_.+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** The value of a Service's `_PORT`: one of ours is a number. */
const ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** The environment without the variables of Services whose names begin like ours, and a note that names these. */
export function withoutServices(environment: Environment): {
	readonly environment: Environment;
	readonly notes: readonly string[];
} {
	const names = Object.keys(environment).filter((name) =>
		isInjected(name, environment[name] ?? ""),
	);
	if (names.length === 0) return { environment, notes: [] };
	const others = Object.entries(environment).filter(
		([name]) => !names.includes(name),
	);
	return {
		environment: Object.fromEntries(others),
		notes: [
			`environment ${names.join(", ")}: written by Kubernetes for a Service, not read as settings`,
		],
	};
}

function isInjected(name: string, value: string): boolean {
	return (
		INJECTED.test(name) ||
		(/^(?:ELASTIC_RUN|PET)(?:_.+)?_PORT$/.test(name) && ADDRESS.test(value))
	);
}
