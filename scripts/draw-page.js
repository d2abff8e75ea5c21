// Takes the README's picture of the page: a training of four workers, one of which is killed on the way.
//
//   npm run build:js && node scripts/draw-page.js docs/page.png
//
// It needs a Chromium: CHROMIUM_BIN, or /usr/bin/chromium.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const SIZE = { width: 1_000, height: 745 };
/** How long it trains before and after the kill. */
const [BEFORE_MS, AFTER_MS] = [25_000, 20_000];
const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const [, , file] = process.argv;
if (file === undefined) throw new Error("name the file to write");
const folder = mkdtempSync(join(tmpdir(), "page-"));
const launcher = spawn(
	process.execPath,
	[
		here("dist/bin/elastic-run.js"),
		...["--nproc-per-node", "4", "--http", ":0", "--run-id", "digits"],
		...["--node-id", "node-a", here("examples/train.js")],
		...["--steps", "1000000"],
	],
	{ cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
);
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM_BIN ?? "/usr/bin/chromium",
	args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
	const url = await observedAt();
	const page = await browser.newPage({ viewport: SIZE });
	await page.goto(url);
	await page.getByRole("button", { name: "all" }).click();
	await sleep(BEFORE_MS);
	const status = await (await fetch(new URL("status", url))).json();
	process.kill(status.run.nodes[0].workerPids[2], "SIGKILL");
	await sleep(AFTER_MS);
	await page.screenshot({ path: file });
} finally {
	await browser.close();
	launcher.kill("SIGTERM");
	await new Promise((resolve) => launcher.once("exit", resolve));
	rmSync(folder, { recursive: true, force: true });
}

/** Where the launcher says that the page is. */
async function observedAt() {
	const lines = createInterface(launcher.stderr);
	for await (const line of lines) {
		const [url] = /http:\S+/.exec(line) ?? [];
		// What comes later is read too, so that the pipe never fills.
		launcher.stderr.resume();
		if (url !== undefined) return url;
	}
	throw new Error("the launcher has ended");
}
