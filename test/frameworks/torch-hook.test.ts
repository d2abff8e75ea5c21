// The hook in workers that use torch: docs/python.md.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { hookFile, sawHook } from "../helpers/hook.js";
import {
	type Launch,
	type LaunchEnd,
	type LaunchSite,
	openSite,
} from "../helpers/launch.js";
import { signalProcess, waitFor } from "../helpers/processes.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/hook/ddp.py", import.meta.url),
);

/** As a path, more than a unix socket's address holds. */
const LONG = "a-long-name/".repeat(9);

it("counts the steps of an unmodified script, and opens torch's socket without a trace in it", async (context) => {
	needTorch(context);
	const site = openSite();
	const launch = start(site);
	const { hook, ready } = await sawSocket(site);
	expect(ready.torch_socket).toBe(join(hook, "torch.sock"));
	expect(ready.process_group).toBe("joined");
	const seven = "7".padStart(20) + "6".padStart(20);
	await waitFor("seven steps, and a time for all but the first", () =>
		hookFile(hook, "steps").startsWith(seven),
	);
	expect(await handlers(join(hook, "torch.sock"))).toContain("fr_trace_json");
	signalProcess(ready.pid, Number(ready.signal));
	await waitFor("the stacks", () =>
		hookFile(hook, "stack.txt").includes("in waits"),
	);
	const { exitCode, stdout, stderr } = await end(site, launch);
	expect(exitCode).toBe(0);
	expect(stdout).toContain("SIGPIPE is ignored: False");
	expect(stderr).not.toMatch(/WorkerServer|listening/);
}, 240_000);

it.for([
	["ends", false],
	["is killed", true],
] as const)("puts the socket into a short directory if need be, which goes when the worker %s", async ([
	,
	isKilled,
], context) => {
	needTorch(context);
	const site = openSite();
	const channels = join(site.channels, LONG);
	mkdirSync(channels, { recursive: true });
	const launch = start(site, channels);
	const { hook, ready } = await sawSocket(site);
	const socket = ready.torch_socket ?? "";
	expect(socket.startsWith(join(site.temporary, "elastic-run-hook-"))).toBe(
		true,
	);
	expect(existsSync(join(hook, "torch.sock"))).toBe(false);
	expect(await handlers(socket)).toContain("ping");
	if (isKilled) signalProcess(ready.pid, "SIGKILL");
	const { exitCode } = await end(site, launch);
	expect(exitCode).toBe(isKilled ? 1 : 0);
	expect(existsSync(dirname(socket))).toBe(false);
});

function start(site: LaunchSite, channels = site.channels): Launch {
	return site.launch(["--max-restarts", "0", SCRIPT, site.release], {
		env: { PYTHON_EXEC: PYTHON, ELASTIC_RUN_DIR: channels },
	});
}

function end(site: LaunchSite, launch: Launch): Promise<LaunchEnd> {
	writeFileSync(site.release, "");
	return launch.ended;
}

const sawSocket = (site: LaunchSite) =>
	sawHook(site, ({ torch_socket }) => torch_socket !== null);

/** What torch answers on its socket to the question for its handlers. */
function handlers(socketPath: string): Promise<string> {
	return new Promise((resolve, reject) => {
		request({ socketPath, path: "/handler/" }, (answer) => {
			resolve(text(answer));
		})
			.on("error", reject)
			.end();
	});
}
