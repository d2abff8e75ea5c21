import { isIPv6 } from "node:net";

/** The settings of a keeper; its agent passes them as JSON. */
export interface KeeperSettings {
	/** The path of etcd. */
	readonly program: string;
	/** The tool that makes the kernel end etcd with its keeper; undefined if there is none. */
	readonly setpriv: string | undefined;
	readonly runId: string;
	/** Private; holds etcd's data. */
	readonly directory: string;
	readonly places: readonly { readonly host: string; readonly port: number }[];
	/** The index of the place that this keeper serves. */
	readonly member: number;
	readonly listen: readonly string[];
	/** How long an unused etcd is kept, in milliseconds. */
	readonly idleMs: number;
	/** How much longer while it does not answer: rounds go on without it. */
	readonly rideOutMs: number;
}

/** Whether the member joins a cluster that has run without it. */
export type ClusterState = "new" | "existing";

/** A single server elects itself fast; several need etcd's own intervals over a network. */
const ALONE = { heartbeatMs: 100, electionMs: 500 };
const TOGETHER = { heartbeatMs: 100, electionMs: 1_000 };

const NAME_PREFIX = "elastic-run.";

/** The name of a member, which identifies the etcd of a run. */
export function memberName(runId: string, member: number): string {
	return `${NAME_PREFIX}${runId}.${member}`;
}

/** The run for which an etcd with this member name was started; undefined if agents did not start it. */
export function runOfMember(name: string): string | undefined {
	return name.startsWith(NAME_PREFIX)
		? name.slice(NAME_PREFIX.length).replace(/\.\d+$/, "")
		: undefined;
}

/** The address of a member for the others: the port after its endpoint's. */
export function peerUrl(settings: KeeperSettings, member: number): string {
	const { places, listen } = settings;
	const { host = "", port = 0 } = places[member] ?? {};
	// A single member needs no name that others can resolve.
	const reached = places.length === 1 ? (listen[0] ?? host) : host;
	return url(reached, port + 1);
}

export function etcdArguments(
	settings: KeeperSettings,
	state: ClusterState,
): readonly string[] {
	const { places, member, listen, runId, directory } = settings;
	const { host = "", port = 0 } = places[member] ?? {};
	const urls = (offset: number) =>
		listen.map((address) => url(address, port + offset)).join(",");
	const pace = places.length === 1 ? ALONE : TOGETHER;
	const cluster = places.map(
		(_, index) => `${memberName(runId, index)}=${peerUrl(settings, index)}`,
	);
	return [
		...["--name", memberName(runId, member)],
		...["--data-dir", `${directory}/data`],
		...["--listen-client-urls", urls(0)],
		...["--advertise-client-urls", url(host, port)],
		...["--listen-peer-urls", urls(1)],
		...["--initial-advertise-peer-urls", peerUrl(settings, member)],
		...["--initial-cluster", cluster.join(",")],
		...["--initial-cluster-token", runId],
		...["--initial-cluster-state", state],
		...["--heartbeat-interval", String(pace.heartbeatMs)],
		...["--election-timeout", String(pace.electionMs)],
		...["--auto-compaction-mode", "periodic"],
		...["--auto-compaction-retention", "1h"],
		...["--logger", "zap", "--log-level", "warn", "--log-outputs", "stderr"],
	];
}

function url(host: string, port: number): string {
	return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
