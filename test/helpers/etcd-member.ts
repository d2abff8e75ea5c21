import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { EtcdGateway, poll, ROOT_USER } from "./etcd-gateway.js";
import { type EtcdApi, rangeOf } from "./etcd-keys.js";
import { EtcdFolder, EtcdProcess } from "./etcd-process.js";
import { type Certificates, makeCertificates } from "./etcd-tls.js";
import type { PeerGate } from "./peer-gate.js";

/** On a busy machine etcd takes seconds to start; none that is well takes as long as this. */
export const START_LIMIT_MS = 60_000;

interface EtcdUser {
	readonly user: string;
	readonly password: string;
	readonly prefix?: string;
}

export interface EtcdOptions {
	/** "mutual": clients must show a certificate. */
	readonly tls?: "server" | "mutual";
	/** A user besides `ROOT_USER`, who may read and write what begins with the prefix; everything where it is absent. */
	readonly auth?: EtcdUser;
	/** More of etcd's own flags. */
	readonly flags?: readonly string[];
	/** etcd raises a lease's TTL to one and a half times the election time-out. */
	readonly heartbeatMs?: number;
	readonly electionMs?: number;
}

export type MemberOptions = EtcdOptions &
	Required<Pick<EtcdOptions, "heartbeatMs" | "electionMs">>;

interface MemberSettings extends MemberOptions {
	readonly program: string;
	readonly name: string;
	readonly ports: { readonly client: number; readonly peer: number };
	/** Where the other members reach it: its port for them, or the gate before that, which is closed with it. */
	readonly peerUrl: string;
	readonly gate: PeerGate | undefined;
	/** Of all members of its cluster: name=URL,… */
	readonly initialCluster: string;
	/** Of all members the same; two clusters with different ones have different ids. */
	readonly token: string;
}

export function newToken(): string {
	return `${process.pid}-${process.hrtime.bigint()}`;
}

/** The ports were free when they were chosen. */
export class PortTaken extends Error {}

/** One server of a cluster, or the only one. */
export class EtcdMember implements EtcdApi {
	readonly endpoint: string;
	/** Where it was asked for TLS. */
	readonly certificates: Certificates | undefined;
	readonly gate: PeerGate | undefined;
	private readonly settings: MemberSettings;
	private readonly folder = new EtcdFolder();
	private readonly gateway: EtcdGateway;
	private process: EtcdProcess | undefined;
	private token: string;

	constructor(settings: MemberSettings) {
		this.settings = settings;
		this.token = settings.token;
		this.gate = settings.gate;
		mkdirSync(join(this.folder.path, "tls"));
		this.certificates =
			settings.tls && makeCertificates(join(this.folder.path, "tls"));
		const address = `127.0.0.1:${settings.ports.client}`;
		this.endpoint = settings.tls ? `https://${address}` : address;
		this.gateway = new EtcdGateway(this.url, this.certificates);
	}

	get pid(): number {
		return this.running.pid;
	}

	get dataDirectory(): string {
		return join(this.folder.path, "data");
	}

	call<T>(path: string, body?: object, limitMs?: number): Promise<T> {
		return this.gateway.call(path, body, limitMs);
	}

	/**
	 * Starts it for the first time.
	 *
	 * @throws PortTaken
	 */
	async start(): Promise<void> {
		await this.launch();
		if (this.settings.auth !== undefined) await this.enableAuth();
	}

	async restart(): Promise<void> {
		await this.kill();
		await this.launchAgain();
		if (this.settings.auth !== undefined) await this.gateway.signIn();
	}

	async kill(): Promise<void> {
		await this.process?.kill();
	}

	/** Only for who is alone in its cluster. */
	async wipe({ sameClusterId = false } = {}): Promise<void> {
		await this.kill();
		rmSync(this.dataDirectory, { recursive: true, force: true });
		if (!sameClusterId) this.token = newToken();
		await this.launchAgain();
		if (this.settings.auth !== undefined) await this.enableAuth();
	}

	suspend(): void {
		this.running.suspend();
	}

	resume(): void {
		this.running.resume();
	}

	async close(): Promise<void> {
		this.gate?.close();
		await this.kill();
		this.folder.remove();
	}

	private get running(): EtcdProcess {
		if (this.process === undefined) throw new Error("it was not started");
		return this.process;
	}

	private get url(): string {
		const { ports, tls } = this.settings;
		return `${tls ? "https" : "http"}://127.0.0.1:${ports.client}`;
	}

	/** Its ports may be another's for a moment. */
	private async launchAgain(): Promise<void> {
		await poll("its ports", START_LIMIT_MS, async () => {
			try {
				await this.launch();
				return true;
			} catch (error) {
				if (error instanceof PortTaken) return undefined;
				throw error;
			}
		});
	}

	/** Resolves when it answers and has a leader. */
	private async launch(): Promise<void> {
		const args = this.args();
		const started = new EtcdProcess(this.settings.program, args, this.folder);
		this.process = started;
		await poll(`${args.join(" ")} to answer`, START_LIMIT_MS, async () => {
			if (started.hasEnded) {
				throw new (started.couldNotBind ? PortTaken : Error)(started.lastWords);
			}
			return (await this.gateway.isHealthy()) || undefined;
		});
	}

	private args(): readonly string[] {
		const settings = this.settings;
		return [
			...["--name", settings.name, "--data-dir", this.dataDirectory],
			...["--listen-client-urls", this.url],
			...["--advertise-client-urls", this.url],
			...["--listen-peer-urls", `http://127.0.0.1:${settings.ports.peer}`],
			...["--initial-advertise-peer-urls", settings.peerUrl],
			...["--initial-cluster", settings.initialCluster],
			...["--initial-cluster-token", this.token],
			...["--heartbeat-interval", String(settings.heartbeatMs)],
			...["--election-timeout", String(settings.electionMs)],
			// Nobody's data is at stake, and passwords only need to be right.
			...["--unsafe-no-fsync", "--bcrypt-cost", "4"],
			...tlsFlags(settings.tls, this.certificates),
			...(settings.flags ?? []),
		];
	}

	private async enableAuth(): Promise<void> {
		const { auth = ROOT_USER } = this.settings;
		const { user, password, prefix = "" }: EtcdUser = auth;
		this.gateway.signOut();
		await this.addUser(ROOT_USER.user, ROOT_USER.password);
		if (user !== ROOT_USER.user) {
			await this.addUser(user, password);
			const perm = { permType: "READWRITE", ...rangeOf(prefix) };
			await this.call("/v3/auth/role/grant", { name: user, perm });
		}
		await this.call("/v3/auth/enable");
		await this.gateway.signIn();
	}

	/** With a role of the same name; that of root may do everything. */
	private async addUser(name: string, password: string): Promise<void> {
		await this.call("/v3/auth/role/add", { name });
		await this.call("/v3/auth/user/add", { name, password });
		await this.call("/v3/auth/user/grant", { user: name, role: name });
	}
}

function tlsFlags(
	tls: EtcdOptions["tls"],
	certificates: Certificates | undefined,
): readonly string[] {
	if (certificates === undefined) return [];
	const { serverCert, serverKey, cacert } = certificates;
	return [
		...["--cert-file", serverCert, "--key-file", serverKey],
		...(tls === "mutual"
			? ["--client-cert-auth", "--trusted-ca-file", cacert]
			: []),
	];
}
