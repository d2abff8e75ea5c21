import { expect, it } from "vitest";
import { observedAt } from "../helpers/ask.js";
import { openPage } from "../helpers/browser.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";

const etcd = etcdForAll();

it("shows who comes late, or alone, what was before: a node that was killed keeps its row, and comes back in it", async (context) => {
	const { page, problems } = await openPage(context, { colorScheme: "dark" });
	const cluster = new Cluster(etcd(), {
		...{ nodes: "1:2", flags: ["--http", "127.0.0.1:0"] },
		conf: { lease_ttl: 3, last_call_timeout: 1 },
	});
	const [, last] = await cluster.form("node-a", "node-b");
	const first = last === "node-a" ? "node-b" : "node-a";
	cluster.launchOf(last).signal("SIGKILL");
	await cluster.world(2, first);

	await page.goto(await observedAt(cluster.launchOf(first)));
	await page.getByText("round 2, since").waitFor();
	expect(await page.locator("#nodes tbody tr").count()).toBe(1);
	const row = page.locator(`.row[data-node="${last}"]`);
	expect(await row.locator(".bar.running").count()).toBe(1);
	expect(await row.locator(".bar.gone").count()).toBe(1);
	const ends = page.locator("#incidents tbody tr");
	expect(await ends.first().textContent()).toContain(
		`${last} left: lease expired`,
	);

	cluster.agent(last);
	await cluster.newestWorld(first, last);
	await ends.nth(1).waitFor();
	expect(await ends.first().textContent()).toMatch(
		new RegExp(`a node came.*${last}`),
	);
	await row.locator(".bar.running").nth(1).waitFor();
	expect(await page.locator("#rounds tbody tr").count()).toBe(3);
	expect(problems).toEqual([]);
});
