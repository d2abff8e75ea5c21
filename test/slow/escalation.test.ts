import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { followed, sawEvent } from "../helpers/followers.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();
const FLAGS = ["--escalate", "soft,hard,replace-node,fail-run"];

it("climbs all rungs, each with its reason, and only the guilty node has a code of its own", async (context) => {
	const cluster = new Cluster(
		etcd(),
		{
			...{ nodes: "2:3", flags: FLAGS, worker: ["follows.js"] },
			// A worker that has run for so long would have brought a step forward.
			conf: { settle_timeout: 600, join_timeout: 900 },
		},
		context,
	);
	const [first, second, guilty] = await cluster.form(
		...(["node-a", "node-b", "node-c"] as const),
	);

	const survivors = [cluster.worker(1, 0), cluster.worker(1, 1)];
	tell(cluster.worker(1, 2), 9);
	// Soft: the workers of other nodes keep their processes.
	await sawEvent(survivors, "WORK", 2);
	await cluster.site.sawWorkers(1, 2);
	tell(cluster.worker(2, 2), 9);

	// Hard: all are started again.
	await cluster.site.sawWorkers(3, 3);
	for (const worker of survivors) {
		expect(followed(worker).at(-1)).toEqual({ kind: "SIGTERM" });
	}
	tell(cluster.worker(3, 2), 9);

	const { [guilty]: replaced } = await cluster.ends({ [guilty]: 75 });
	const hard = `rank 2 on ${guilty}: exit code 9; hard, because soft brought no step forward`;
	const replace = `rank 2 on ${guilty}: exit code 9; replace-node, because hard brought no step forward`;
	expect(replaced?.stderr).toContain(
		`ended: ${guilty} has failed again: replace-node`,
	);
	await cluster.site.sawWorkers(2, 4);
	tell(cluster.worker(4, 1), 9);

	const ends = await cluster.ends({ [first]: 1, [second]: 1 });
	const fail = `rank 1 on ${second}: exit code 9; fail-run, because replace-node brought no step forward`;
	for (const { stderr } of Object.values(ends)) {
		for (const reason of [hard, replace, fail]) {
			expect(stderr).toContain(reason);
		}
	}
	const history = await cluster.store.history();
	expect(history.map(({ ending }) => ending)).toEqual([
		`rank 2 on ${guilty}: exit code 9`,
		...[hard, replace, fail],
	]);
});
