import {
	availableParallelism,
	hostname,
	networkInterfaces,
	tmpdir,
	userInfo,
} from "node:os";
import { ElasticRunError, messageOf } from "../base/errors.js";
import { isHangupIgnored, readOrigin } from "./hangup.js";
import { ownStdin, type StdinKind } from "./own-stdin.js";

/** What resolving a configuration needs to know about the machine and this process. */
export interface Host {
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly cwd: string;
	readonly hostName: string;
	readonly userName: string;
	readonly temporaryDirectory: string;
	readonly processors: number;
	/** Addresses by which other machines may reach this one, in the system's order, IPv4 before IPv6. */
	readonly addresses: readonly string[];
	/** The running Node.js: its program, version, and whether it runs TypeScript. */
	readonly node: {
		readonly file: string;
		readonly version: string;
		readonly runsTypeScript: boolean;
	};
	/** What kind of stdin a worker would read. */
	readonly stdin: StdinKind;
	/** Whether this process was started to outlive its terminal, as with nohup. */
	readonly isHangupIgnored: boolean;
}

/** The real machine and process, with the given environment. */
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
		stdin: ownStdin(),
		isHangupIgnored: isHangupIgnored(readOrigin(environment)),
	};
}

/** A shell's working directory may have been removed. */
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

/** A user id that is missing from the system's list of users has no name. */
function currentUserName(): string {
	try {
		return userInfo().username;
	} catch {
		return `uid-${process.getuid?.() ?? "unknown"}`;
	}
}

/** Link-local IPv6 addresses (scope id above 0) mean nothing on other machines. */
export function externalAddresses(): string[] {
	const all = Object.values(networkInterfaces())
		.flatMap((addresses) => addresses ?? [])
		.filter(({ internal }) => !internal);
	return [
		...all.filter(({ family }) => family === "IPv4"),
		...all.filter((entry) => entry.family === "IPv6" && entry.scopeid === 0),
	].map(({ address }) => address);
}
