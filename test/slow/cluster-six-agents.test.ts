import { join } from "node:path";
import { expect, it } from "vitest";
import { startWorld } from "../fixtures/checkpoint-examples.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";

/** LONG_TESTS=1 makes it some minutes. */
const KILLS = process.env.LONG_TESTS ? 40 : 3;
const STEPS_BETWEEN_KILLS = 40;
const STEPS = (KILLS + 1) * STEPS_BETWEEN_KILLS;
const LIMIT_MS = 120_000;

const NODES = Array.from({ length: 6 }, (_, index) => `node-${index}`);

const etcd = etcdForAll();

function trainerArguments(directory: string): readonly string[] {
	return ["--checkpoint-dir", directory, "--steps", String(STEPS)];
}

/** What a trainer's rank 0 has said at its end. */
function accuracyIn(stdout: string): number {
	const words = /final accuracy (0\.\d{4}) after (\d+) steps/.exec(stdout);
	expect(Number(words?.[2])).toBe(STEPS);
	return Number(words?.[1]);
}

/** The last step that it has said. */
function stepIn(stdout: string): number {
	return Number([...stdout.matchAll(/step (\d+): loss/g)].at(-1)?.[1] ?? 0);
}

it(
	"T8 J6 J7 J10 D6 six agents, of which one is killed again and again: the run ends with the right accuracy",
	async () => {
		const cluster = new Cluster(etcd(), {
			nodes: "3:6",
			// Workers that lose another one fail, and are charged, before it is known that its node is gone.
			// Its lease keeps the run waiting for a node that was killed, so that none comes too late.
			flags: ["--max-restarts", String(KILLS), "--links", "off"],
		});
		const { site, store } = cluster;
		const args = trainerArguments(join(site.path, "checkpoints"));
		const worker = ["../../../examples/train.js", ...args] as const;
		for (const nodeId of NODES) cluster.agent(nodeId, { worker });
		const said = () =>
			NODES.map((nodeId) => cluster.launchOf(nodeId).output.stdout);

		for (let kill = 1; kill <= KILLS; kill++) {
			const step = kill * STEPS_BETWEEN_KILLS;
			await poll(
				`step ${step}`,
				LIMIT_MS,
				async () => said().some((text) => stepIn(text) >= step) || undefined,
			);
			const members = (await store.history()).at(-1)?.members ?? [];
			const victims = [await store.coordinator(), members[0], members.at(-1)];
			const victim = victims[kill % victims.length] ?? "";
			await cluster.kill(victim);
			cluster.agent(victim);
		}
		const ends = await cluster.ends(
			Object.fromEntries(NODES.map((nodeId) => [nodeId, 0])),
		);
		const all = Object.values(ends).map(({ stdout }) => stdout);
		const accuracy = accuracyIn(all.join(""));
		const history = await store.history();
		expect(history.length).toBeGreaterThan(KILLS);
		expect(history.length).toBeLessThanOrEqual(2 * KILLS + 1);
		await site.isSwept();

		const alone = trainerArguments(join(site.path, "alone"));
		const [undisturbed] = await startWorld("train.js", 1, alone);
		expect(await undisturbed?.ended, undisturbed?.stderr()).toBe(0);
		expect(accuracy).toBeCloseTo(accuracyIn(undisturbed?.stdout() ?? ""), 2);
		expect(accuracy).toBeGreaterThan(0.85);
	},
	10 * LIMIT_MS,
);
