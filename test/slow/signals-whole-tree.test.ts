import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { isAlive, signalProcess, waitFor } from "../helpers/processes.js";

/** What a scheduler or a service manager does that stops a job: workers may die before the launcher hears. */
it.each([
	["SIGTERM", 143, "a worker's own death", []],
	["SIGINT", 130, "a worker's own death", []],
	["SIGTERM", 143, "an exit code, as a shell reports it", ["sh", "-c"]],
] as const)("%s to the workers first and to the launcher when they are dead ends with %i, without a failure or a restart: %s", async (signal, exitCode, _, shell) => {
	const site = openSite();
	const worker = ["node", job("works.js")];
	const command =
		shell.length === 0 ? worker : [...shell, `${worker.join(" ")}; exit $?`];
	const launch = site.launch(["--nproc-per-node", "2", ...command]);
	const workers = await site.sawWorkers(2);
	for (const { pid } of workers) signalProcess(pid, signal);
	await waitFor("the workers' deaths", () =>
		workers.every(({ pid }) => !isAlive(pid)),
	);
	launch.signal(signal);
	const end = await launch.ended;
	expect(end.stderr).not.toContain("failed");
	expect(end.stderr).toContain("restarts: 0 of 3 used");
	expect(end.exitCode).toBe(exitCode);
	expect(site.workers()).toHaveLength(2);
	await site.isSwept();
});
