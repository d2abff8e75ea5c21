import {
	existsSync,
	mkdirSync,
	renameSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
	channelFailure,
	makeDirectories,
	takePrivateDirectory,
} from "../channel/index.js";

/** Touched while the data is used. */
const USED_FILE = "used";
/** Exists after the hosting agent has left the run regularly. */
const LEFT_FILE = "left";

const OWN_UID = process.getuid?.() ?? 0;

/** The directory of a run's etcd for one endpoint of this machine. Another run at the endpoint has another directory. */
export function meetingDirectory(
	base: string,
	{
		runId,
		host,
		port,
	}: { readonly runId: string; readonly host: string; readonly port: number },
): string {
	const name = `${host.replaceAll(/[^A-Za-z0-9.-]/g, "_")}-${port}.${runId}`;
	return join(resolve(base), `elastic-run-meeting-${OWN_UID}`, name);
}

/**
 * Makes this directory, which only this user can enter, or takes the existing one: a host that comes back finds its
 * member's data.
 * @throws ElasticRunError CHANNEL if it cannot be made, or another user could reach it
 */
export function takeMeetingDirectory(directory: string): void {
	const parent = dirname(directory);
	try {
		makeDirectories(dirname(parent));
	} catch (error) {
		throw channelFailure(parent, error);
	}
	takePrivateDirectory(parent, OWN_UID);
	takePrivateDirectory(directory, OWN_UID);
}

/**
 * Records whether the agent here is in the run, or has left it regularly. Does nothing if the keeper has finished and
 * removed the directory.
 */
export function markLeft(directory: string, hasLeft: boolean): void {
	const file = join(directory, LEFT_FILE);
	try {
		if (hasLeft) writeFileSync(file, "", { mode: 0o600 });
		else rmSync(file, { force: true });
	} catch (error) {
		if (existsSync(directory)) throw error;
	}
}

/** The keeper's access to the directory. */
export class DataDirectory {
	constructor(private readonly directory: string) {}

	/** Makes the directory if an earlier keeper has just removed it. */
	take(): void {
		mkdirSync(this.directory, { recursive: true, mode: 0o700 });
	}

	get hasLeft(): boolean {
		return existsSync(join(this.directory, LEFT_FILE));
	}

	get hasData(): boolean {
		return existsSync(join(this.directory, "data", "member"));
	}

	/** Discards data that was unused for so long: its run ended without its keeper. */
	discardStale(idleMs: number, wallTime: number): void {
		const used = statSync(join(this.directory, USED_FILE), {
			throwIfNoEntry: false,
		});
		if (used !== undefined && wallTime - used.mtimeMs < idleMs) return;
		this.discardData();
	}

	/** Records that it is in use now. Where that cannot be done, the etcd that serves from it must not end. */
	touch(wallTime: number): void {
		const file = join(this.directory, USED_FILE);
		try {
			if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600 });
			utimesSync(file, wallTime / 1_000, wallTime / 1_000);
		} catch {
			// It is gone, or cannot be written.
		}
	}

	discardData(): void {
		const data = join(this.directory, "data");
		if (!existsSync(data)) return;
		const old = `${data}.${process.pid}`;
		renameSync(data, old);
		rmSync(old, { recursive: true, force: true });
	}

	/**
	 * Takes the directory out of use, while etcd still has the port: a next start of the run finds none, and nobody removes
	 * that start's data.
	 */
	setAside(): void {
		if (existsSync(this.directory)) renameSync(this.directory, this.aside);
	}

	remove(): void {
		rmSync(this.aside, { recursive: true, force: true });
	}

	private get aside(): string {
		return `${this.directory}.${process.pid}.ended`;
	}
}
