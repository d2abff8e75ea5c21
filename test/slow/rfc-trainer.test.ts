// The RFC's two patterns in JavaScript; test/frameworks/rfc-trainer.test.ts has them with torch.
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { signalProcess, waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();

it.each([
	"polls",
	"retries",
])("T4 a worker that only asks, and %s, keeps its process while others join, fail, are killed and leave", async (mode) => {
	const cluster = new Cluster(etcd(), {
		nodes: "1:3",
		conf: { last_call_timeout: 1, lease_ttl: 5 },
		flags: ["--restart-policy", "soft", "--pause-timeout", "20"],
		worker: ["rfc-trainer.js", mode],
	});
	const launches = [cluster.agent("node-a"), cluster.agent("node-b")];
	let round = 0;
	/** Waits for a later round that so many have joined; their pids by rank. */
	const joined = (size: number) =>
		waitFor(`${size} workers in a round after ${round}`, () => {
			const text = launches.map(({ output }) => output.stdout).join("");
			const line =
				/pid (\d+) joined (\d+) as (\d+) of (\d+) after (\w+) steps/g;
			const all = [...text.matchAll(line)].map(([, ...words]) => words);
			const newest = Math.max(...all.map(([, at]) => Number(at)));
			const world = all
				.filter(([, at, , of]) => Number(at) === newest && Number(of) === size)
				.sort(([, , one], [, , other]) => Number(one) - Number(other));
			if (newest <= round || world.length !== size) return false;
			round = newest;
			return world.map(([pid, , , , steps]) => ({ pid: Number(pid), steps }));
		});
	const [survivor, other] = await joined(2);
	const [, second = ""] = await cluster.store.sawMembers(round);
	const isSpared = (world: Awaited<ReturnType<typeof joined>>) =>
		expect(world).toContainEqual({ pid: survivor?.pid, steps: "some" });

	launches.push(cluster.agent("node-c"));
	isSpared(await joined(3));
	signalProcess(other?.pid, "SIGKILL");
	isSpared(await joined(3));
	await cluster.kill(second);
	isSpared(await joined(2));
	cluster.launchOf("node-c").signal("SIGTERM");
	await cluster.ends({ "node-c": 143 });
	isSpared(await joined(1));
	await cluster.stop();
});
