import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { observedAt } from "../helpers/ask.js";
import { openPage } from "../helpers/browser.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { signalProcess } from "../helpers/processes.js";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const MARKUP =
	"<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
const TOKEN = "a-token-of-enough-characters";

const flags = (runId: string, workers: number) => [
	...["--http", "127.0.0.1:0", "--run-id", runId],
	...["--nproc-per-node", String(workers)],
];

/** What a fast page has asked twice since. */
async function isAskedAnew(page: Page): Promise<void> {
	for (const _ of ["what was under way", "the next"]) {
		await page.waitForResponse((response) =>
			response.url().includes("/status"),
		);
	}
}

it("shows a run, an incident in the picture with its reason below, and that the agent has gone", async (context) => {
	const { page, problems } = await openPage(context, {
		viewport: { width: 400, height: 800 },
	});
	const site = openSite();
	const launch = site.launch([...flags("shown", 2), job("works.sh")]);
	await page.goto(await observedAt(launch));
	const workers = await site.sawWorkers(2, 1);
	await page.getByText("round 1, since").waitFor();
	expect(await page.locator("h1").textContent()).toBe("shown");
	expect(await page.title()).toBe("shown – elastic-run");
	expect(await page.locator("#nodes tbody tr").count()).toBe(1);
	await page.locator(".picture .bar.running").first().waitFor();
	expect(await page.locator(".mark").count()).toBe(0);
	expect(await page.locator("#control").count()).toBe(0);

	signalProcess(workers[1]?.pid, "SIGKILL");
	const mark = page.locator(".mark");
	await mark.waitFor();
	const reason = /rank 1 on node-a: killed by SIGKILL \(pid \d+\)/;
	const why = page.locator("#incidents td.text");
	expect(await why.textContent()).toMatch(reason);
	await site.sawWorkers(2, 2);
	await page.getByText("round 2, since").waitFor();
	await page.getByRole("button", { name: "5 min" }).click();
	expect(await page.locator("[aria-pressed=true]").textContent()).toBe("5 min");
	expect(await page.locator("#rounds tbody tr").first().textContent()).toMatch(
		reason,
	);
	expect(
		await page.evaluate("document.documentElement.scrollWidth"),
	).toBeLessThanOrEqual(400);
	expect(problems).toEqual([]);

	launch.signal("SIGTERM");
	expect((await launch.ended).exitCode).toBe(143);
	const notice = page.locator(".notice.bad[role=status]");
	await notice.waitFor();
	expect(await notice.textContent()).toMatch(
		/^The agent has not answered since \d\d:\d\d:\d\d \(\d+ s\)/,
	);
	await page.getByText("last seen").waitFor();
	await site.isSwept();
});

it("shows what workers write and throw as text, and runs none of it", async (context) => {
	const { page, problems } = await openPage(context);
	const site = openSite();
	const program = ["--no-node", process.execPath];
	const launch = site.launch(
		[
			...[...flags("marked", 1), ...program],
			...["--import", "elastic-run/register", job("says-markup.js")],
		],
		{ cwd: PROJECT },
	);
	await page.goto(await observedAt(launch));
	const said = page.locator("#workers code", { hasText: "<img src=x" });
	await said.waitFor();
	expect(await said.textContent()).toBe(MARKUP);
	await page.locator("#workers summary").click();
	const lines = page.locator("#workers pre");
	expect((await lines.textContent())?.split("\n")).toContain(MARKUP);
	await isAskedAnew(page);
	expect(await lines.isVisible()).toBe(true);

	writeFileSync(site.release, "");
	const why = page.locator("#incidents .hint", { hasText: MARKUP });
	await why.first().waitFor();
	expect(await page.locator("img").count()).toBe(0);
	expect(await page.locator("script").count()).toBe(1);
	expect(await page.title()).toBe("marked – elastic-run");
	expect(problems).toEqual([]);
});

it("stops the run for who gives the token, asks before, and says what is wrong with another token", async (context) => {
	const { page, problems } = await openPage(context);
	const site = openSite();
	const launch = site.launch([...flags("stopped", 1), job("works.sh")], {
		env: { ELASTIC_RUN_HTTP_TOKEN: TOKEN },
	});
	const url = await observedAt(launch);
	await page.goto(`${url}/?token=${TOKEN}`);
	await page.getByText("round 1, since").waitFor();
	expect(page.url()).not.toContain(TOKEN);
	const control = page.locator("#control");
	const press = (name: string) => control.getByRole("button", { name }).click();
	await control.getByLabel("Token").fill("another-token-of-enough");
	await press("Use");
	await page.locator(".liveness.live").waitFor();
	await press("Stop the run …");
	await press("Stop the run");
	await control.getByText("the token is needed in a header").waitFor();
	expect(problems).toEqual([expect.stringContaining("401")]);

	await control.getByLabel("Token").fill(TOKEN);
	await page.keyboard.press("Enter");
	await press("Stop the run …");
	await press("Cancel");
	await isAskedAnew(page);
	expect(launch.hasEnded).toBe(false);
	await press("Stop the run …");
	await press("Stop the run");
	expect((await launch.ended).exitCode).toBe(5);
	expect(launch.output.stderr).toContain("POST /stop on node-a");
	await page
		.getByText("The run was stopped, and this agent has gone")
		.waitFor();
});

const etcd = etcdForAll();

it("shows who comes late, or alone, what was before: a node that was killed keeps its row, and comes back in it", async (context) => {
	const { page, problems } = await openPage(context, { colorScheme: "dark" });
	const cluster = new Cluster(etcd(), {
		...{ nodes: "1:2", flags: ["--http", "127.0.0.1:0"] },
		conf: { lease_ttl: 3, last_call_timeout: 4 },
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
	expect(await ends.first().textContent()).toMatch(
		new RegExp(`${last} left: (lease expired|its launcher died)`),
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
