import {
	existsSync,
	mkdirSync,
	renameSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { channelFailure } from "../channel/channel-error.js";
import { takePrivateDirectory } from "../channel/private-directory.js";

/** Touched while the data is used. */
const USED_FILE = "used";
/** Exists after the hosting agent has left the run regularly. */
const LEFT_FILE = "left";

/**
 * Makes the private directory of the etcd for one endpoint of this machine, or takes the existing one: a host that comes
 * back finds its member's data.
 * @throws ElasticRunError CHANNEL if it cannot be made, or another user could reach it
 */
export function takeMeetingDirectory(
	base: string,
	uid: number,
	{ host, port }: { readonly host: string; readonly port: number },
): string {
	const parent = join(resolve(base), `elastic-run-meeting-${uid}`);
	try {
		mkdirSync(resolve(base), { recursive: true });
	} catch (error) {
		throw channelFailure(parent, error);
	}
	takePrivateDirectory(parent, uid);
	const name = `${host.replaceAll(/[^A-Za-z0-9.-]/g, "_")}-${port}`;
	const directory = join(parent, name);
	takePrivateDirectory(directory, uid);
	return directory;
}

/**
 * Records whether the agent here is in the run, or has left it regularly. Does nothing if the keeper has finished and
 * removed the directory.
 */
export function markLeft(directory: string, hasLeft: boolean): void {
	const file = join(directory, LEFT_FILE);
	if (!existsSync(directory)) return;
	if (hasLeft) writeFileSync(file, "", { mode: 0o600 });
	else rmSync(file, { force: true });
}

/** The keeper's access to the directory. */
export class DataDirectory {
	constructor(private readonly directory: string) {}

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

	/** Records that it is in use now. */
	touch(wallTime: number): void {
		const file = join(this.directory, USED_FILE);
		if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600 });
		utimesSync(file, wallTime / 1_000, wallTime / 1_000);
	}

	discardData(): void {
		const data = join(this.directory, "data");
		if (!existsSync(data)) return;
		const old = `${data}.${process.pid}`;
		renameSync(data, old);
		rmSync(old, { recursive: true, force: true });
	}

	remove(): void {
		rmSync(this.directory, { recursive: true, force: true });
	}
}
