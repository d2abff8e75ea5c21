import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { packageFile } from "../../src/base/package-files.js";
import type { KeeperSettings } from "../../src/hosting/etcd-arguments.js";
import { KEEPER_EXIT } from "../../src/hosting/keeper.js";
import { freePort } from "../helpers/free-port.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

/** The first one would make Node listen for a debugger, and each of the others would end the process. */
const ENDS_NOTHING: readonly NodeJS.Signals[] = [
	...(["SIGUSR1", "SIGUSR2", "SIGHUP", "SIGQUIT", "SIGALRM"] as const),
	...(["SIGIO", "SIGPROF", "SIGPWR", "SIGSTKFLT", "SIGVTALRM"] as const),
	...(["SIGXCPU", "SIGXFSZ", "SIGPIPE"] as const),
];

it("an etcd's keeper opens no debugger and ends only when it is asked to", async () => {
	const folder = temporaryFolder();
	onTestFinished(folder.remove);
	const directory = join(folder.path, "etcd");
	mkdirSync(directory);
	const program = join(folder.path, "serves");
	const served = join(folder.path, "served");
	const script = `#!/bin/sh\n: >${served}\nexec sleep 600\n`;
	writeFileSync(program, script, { mode: 0o755 });
	const settings: KeeperSettings = {
		...{ program, setpriv: undefined, runId: "r", directory, member: 0 },
		places: [{ host: "127.0.0.1", port: await freePort() }],
		...{ listen: ["127.0.0.1"], idleMs: 600_000, rideOutMs: 0 },
	};
	const keeper = spawn(
		process.execPath,
		[
			packageFile("dist/src/hosting/keeper-process.js"),
			JSON.stringify(settings),
		],
		{ env: {}, stdio: ["ignore", "ignore", "pipe"] },
	);
	onTestFinished(() => void keeper.kill("SIGKILL"));
	let stderr = "";
	keeper.stderr.on("data", (text) => {
		stderr += text;
	});
	const ended = once(keeper, "close");
	await waitFor("its etcd", () => existsSync(served));
	for (const signal of ENDS_NOTHING) keeper.kill(signal);
	keeper.kill("SIGTERM");
	expect(await ended).toEqual([KEEPER_EXIT.asked, null]);
	expect(stderr).not.toContain("Debugger");
});
