import { RunKeys } from "../../rendezvous/records/keys.js";

/** One right of a role: all keys that begin so. */
export interface PrefixRight {
	readonly prefix: string;
	readonly why: string;
}

/** What etcd needs for a run with a user of its own. */
export interface EtcdSetup {
	readonly runId: string;
	readonly user: string;
	readonly role: string;
	readonly rights: readonly PrefixRight[];
}

/** @param user undefined: named after the run */
export function planSetup(runId: string, user?: string): EtcdSetup {
	const name = `elastic-run-${runId}`;
	return {
		runId,
		user: user ?? name,
		role: name,
		rights: [{ prefix: new RunKeys(runId).prefix, why: "the run itself" }],
	};
}

/** The commands that do it, for root or another user of etcd that may manage users. */
export function setupCommands(
	{ user, role, rights }: EtcdSetup,
	endpoints: readonly string[],
): readonly string[] {
	const etcdctl = `etcdctl --endpoints=${endpoints.join(",")}`;
	return [
		`${etcdctl} role add ${role}`,
		...rights.flatMap(({ prefix, why }) => [
			`# ${why}`,
			`${etcdctl} role grant-permission ${role} --prefix=true readwrite ${prefix}`,
		]),
		"# asks for the password",
		`${etcdctl} user add ${user}`,
		`${etcdctl} user grant-role ${user} ${role}`,
	];
}

/** The first key after all keys with this prefix, as etcd writes ranges. */
export function endOfPrefix(prefix: string): string {
	const last = prefix.charCodeAt(prefix.length - 1);
	return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
