import { describe, expect, it } from "vitest";
import { guardsOf, wordsOf } from "../helpers/guards.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { endProcess, isAlive, signalProcess } from "../helpers/processes.js";

it("A1 a launcher that is killed leaves no worker, no child of one and no channel", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "3", job("spawns-grandchild.sh")],
	]);
	await site.sawWorkers(3);
	expect(site.livingProcesses()).toHaveLength(9);
	const [guard = 0] = guardsOf(launch.pid);
	expect(wordsOf(guard).join(" ")).not.toContain("elastic-run");
	launch.signal("SIGKILL");
	expect((await launch.ended).signal).toBe("SIGKILL");
	await site.isSwept();
});

// Launchers of other tests that run now end what was left of a run of theirs: this name is nobody else's.
const RUN = `left-${process.pid}`;

describe.skipIf(process.platform !== "linux")(
	"after a launcher and its guard were killed together",
	() => {
		async function killedTogether(site: LaunchSite, args: readonly string[]) {
			const launch = site.launch(args);
			const before = site.workers().length;
			const workers = await site.sawWorkers(before + 1);
			const guards = guardsOf(launch.pid);
			expect(guards).toHaveLength(1);
			// While both are stopped, neither sees the end of the other.
			for (const pid of [launch.pid, ...guards]) signalProcess(pid, "SIGSTOP");
			for (const pid of [...guards, launch.pid]) signalProcess(pid, "SIGKILL");
			await launch.ended;
			return workers.flatMap(({ extra }) => extra.children ?? []);
		}

		it("the next one of the same node ends what they left, and spares what it is in a pipe with, also in a dead worker's environment", async () => {
			const site = openSite();
			const run = (...program: string[]) =>
				["--run-id", RUN, "--node-id", "node-a"].concat(program);
			const left = await killedTogether(site, run(job("spawns-grandchild.sh")));
			const [worker] = site.workers();
			const next = site.launch(run(job("prints.sh"), "1"), {
				env: worker?.env ?? {},
				through: ["sh", "-c", '"$@" 2>&1 | cat', "sh"],
			});
			const { stdout } = await next.ended;
			const lines = stdout
				.split("\n")
				.filter((line) => line.includes("an earlier launcher of this node"));
			expect(lines).toHaveLength(1);
			for (const pid of left) expect(lines[0]).toContain(`pid ${pid}`);
			expect(stdout).toContain(`run ${RUN} succeeded`);
			expect(left.filter(isAlive)).toEqual([]);
		});

		it("one of another run or another node ends nothing", async () => {
			const site = openSite();
			const run = (id: string) => ["--run-id", id, job("spawns-grandchild.sh")];
			const left = await killedTogether(site, run(RUN));
			const others = [
				site.launch(run("another")),
				site.launch(run(RUN), { env: { ELASTIC_RUN_NODE_ID: "node-b" } }),
			];
			await site.sawWorkers(3);
			expect(left.filter(isAlive)).toEqual(left);
			for (const other of others) {
				other.signal("SIGTERM");
				await other.ended;
				expect(other.output.stderr).not.toContain("earlier launcher");
			}
			left.forEach(endProcess);
		});
	},
);
