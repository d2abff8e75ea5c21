import {
	availableParallelism,
	hostname,
	networkInterfaces,
	tmpdir,
	userInfo,
} from "node:os";
import { ElasticRunError, messageOf } from "../../errors.js";
import { isHangupIgnored, readOrigin } from "./hangup.js";

/** What resolving a configuration needs to know of the machine and of this process. */
export interface Host {
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly cwd: string;
	readonly hostName: string;
	readonly userName: string;
	readonly temporaryDirectory: string;
	readonly processors: number;
	/** Addresses by which other machines may reach this one, in the system's order, IPv6 after IPv4. */
	readonly addresses: readonly string[];
	/** This Node: its program, version, and whether it runs TypeScript. */
	readonly node: {
		readonly file: string;
		readonly version: string;
		readonly runsTypeScript: boolean;
	};
	/** Whether the launcher's log goes to a terminal. */
	readonly logsToTerminal: boolean;
	/** Whether who started this process asks that it outlive its terminal, as nohup does. */
	readonly isHangupIgnored: boolean;
}

/** The machine and process as they are; the environment is the caller's to choose. */
export function systemHost(environment: Host["environment"]): Host {
	return {
		environment,
		cwd: currentDirectory(),
		hostName: hostname(),
		userName: currentUserName(),
		temporaryDirectory: tmpdir(),
		processors: availableParallelism(),
		addresses: externalAddresses(),
		node: {
			file: process.execPath,
			version: process.versions.node,
			runsTypeScript:
				"typescript" in process.features &&
				Boolean(process.features.typescript),
		},
		logsToTerminal: process.stderr.isTTY === true,
		isHangupIgnored: isHangupIgnored(readOrigin(environment)),
	};
}

/** A shell may stand in a directory that has been removed. */
function currentDirectory(): string {
	try {
		return process.cwd();
	} catch (error) {
		throw new ElasticRunError(
			"USAGE",
			`the working directory no longer exists (${messageOf(error)}); change to another one`,
			{ cause: error },
		);
	}
}

/** A user id without an entry in the system's list of users has no name. */
function currentUserName(): string {
	try {
		return userInfo().username;
	} catch {
		return `uid-${process.getuid?.() ?? "unknown"}`;
	}
}

/** IPv6 addresses of a link alone (scope id above 0) mean nothing on others. */
export function externalAddresses(): string[] {
	const all = Object.values(networkInterfaces())
		.flatMap((addresses) => addresses ?? [])
		.filter(({ internal }) => !internal);
	return [
		...all.filter(({ family }) => family === "IPv4"),
		...all.filter((entry) => entry.family === "IPv6" && entry.scopeid === 0),
	].map(({ address }) => address);
}
