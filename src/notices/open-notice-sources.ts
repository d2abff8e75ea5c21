import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.js";
import { within } from "../base/within.js";
import type { NoticesConfig } from "../config/index.js";
import type { NoticeListener } from "../model/index.js";
import { AWS } from "./sources/aws.js";
import { AZURE } from "./sources/azure.js";
import { NoticeFile } from "./sources/file.js";
import { GCP } from "./sources/gcp.js";
import { HttpTransport, type Transport } from "./sources/http.js";
import { Poller } from "./sources/poller.js";
import { type AskForEnd, Slurm } from "./sources/slurm.js";
import type {
	Cloud,
	Firmware,
	OpenSource,
	PolledValue,
	SourceContext,
} from "./sources/source.js";
import { TimedNotice } from "./sources/timed-notice.js";

/** How long leaving may be held up by the word to a cloud, in milliseconds. */
const LEFT_WITHIN_MS = 2_500;

/** Each cloud is a row; the others are in `Sources.open`. */
const CLOUDS = { aws: AWS, gcp: GCP, azure: AZURE } as const;

type CloudName = keyof typeof CLOUDS;

const FIRMWARE = "/sys/class/dmi/id";

export interface NoticeSourcesOptions extends Omit<SourceContext, "listener"> {
	readonly notices: Pick<
		NoticesConfig,
		"sources" | "maxLifetimeMs" | "drainBeforeMs"
	>;
	/** When this agent was started, in milliseconds since 1970. */
	readonly startedAt: number;
	/** Default: HTTP. */
	readonly transport?: Transport | undefined;
	/** Default: the machine's own. */
	readonly readFirmware?: (() => Promise<Firmware>) | undefined;
	/** Default: squeue. */
	readonly askForEnd?: AskForEnd | undefined;
}

export interface NoticeSources {
	close(): void;
	/** To be called after this node has left. Never rejects. */
	left(): Promise<void>;
}

/** Listens for whatever says that this machine will go. Off a cloud nothing stays open. */
export function openNoticeSources(
	options: NoticeSourcesOptions,
	listener: NoticeListener,
): NoticeSources {
	const all = new Sources({ ...options, listener });
	all.open();
	return all;
}

class Sources implements NoticeSources {
	private readonly opened: OpenSource[] = [];
	private readonly clouds: Cloud[] = [];
	private transport: Transport | undefined;
	private isClosed = false;

	constructor(private readonly options: NoticeSourcesOptions & SourceContext) {}

	open(): void {
		const { sources, maxLifetimeMs } = this.options.notices;
		if (maxLifetimeMs !== undefined) this.openLifetime(maxLifetimeMs);
		if (sources === "auto") {
			this.openSlurm();
			void this.findCloud();
			return;
		}
		for (const source of sources) {
			if (source === "slurm") this.openSlurm();
			else if (typeof source === "object") {
				this.poll([new NoticeFile(source.path, this.options)]);
			} else this.poll(this.openCloud(source).values);
		}
	}

	close(): void {
		this.isClosed = true;
		for (const source of this.opened) source.close();
		this.transport?.close();
	}

	async left(): Promise<void> {
		const told = this.clouds.map((cloud) => cloud.left?.());
		const { clock } = this.options;
		await within(clock, LEFT_WITHIN_MS, Promise.allSettled(told));
	}

	private openLifetime(lifetimeMs: number): void {
		const { notices, startedAt: from } = this.options;
		const { drainBeforeMs } = notices;
		const reason = `its lifetime of ${lifetimeMs / 1_000} s is nearly over`;
		const known = { from, end: from + lifetimeMs, drainBeforeMs };
		const notice = { source: "lifetime", reason } as const;
		this.opened.push(new TimedNotice(known, notice, this.options));
	}

	private openSlurm(): void {
		const { drainBeforeMs } = this.options.notices;
		this.opened.push(new Slurm({ ...this.options, drainBeforeMs }));
	}

	private poll(values: readonly PolledValue[]): void {
		for (const value of values) {
			this.opened.push(new Poller(value, this.options));
		}
	}

	private openCloud(name: CloudName): Cloud {
		const { clock, environment, transport } = this.options;
		this.transport ??= transport ?? new HttpTransport(clock);
		const { variable, place, open } = CLOUDS[name];
		const cloud = open(this.transport, environment[variable] || place, clock);
		this.clouds.push(cloud);
		return cloud;
	}

	/** Once, in the background. */
	private async findCloud(): Promise<void> {
		const { environment, log, readFirmware: read } = this.options;
		const firmware = await (read ?? readFirmware)();
		for (const { cloud: name, isNamed } of hintsOf(environment, firmware)) {
			if (this.isClosed) return;
			const cloud = this.openCloud(name);
			void cloud.find().then(
				() => {
					if (!this.isClosed) this.poll(cloud.values);
				},
				(error: unknown) => {
					if (this.isClosed) return;
					const words = `notices of ${CLOUDS[name].name} cannot be read: ${messageOf(error)}`;
					// A container often cannot reach what its machine can.
					if (isNamed) log.warn(words);
					else log.info(words);
				},
			);
		}
	}
}

/** A cloud whose server is worth a request. */
export interface Hint {
	readonly cloud: CloudName;
	/** The environment names its server, so an answer is expected. */
	readonly isNamed: boolean;
}

/** The clouds that the environment names, else that of the firmware. */
export function hintsOf(
	environment: Readonly<Record<string, string | undefined>>,
	firmware: Firmware,
): readonly Hint[] {
	const names = ["aws", "gcp", "azure"] as const;
	const named = names.filter((name) => environment[CLOUDS[name].variable]);
	if (named.length > 0) {
		return named.map((cloud) => ({ cloud, isNamed: true }));
	}
	const cloud = names.find((name) => CLOUDS[name].isIn(firmware));
	return cloud === undefined ? [] : [{ cloud, isNamed: false }];
}

/** What cannot be read is empty: a container may hide it. */
async function readFirmware(): Promise<Firmware> {
	const read = (name: keyof Firmware) =>
		readFile(join(FIRMWARE, name), "utf8").then(
			(text) => text.trim(),
			() => "",
		);
	return {
		sys_vendor: await read("sys_vendor"),
		bios_version: await read("bios_version"),
		chassis_asset_tag: await read("chassis_asset_tag"),
	};
}
