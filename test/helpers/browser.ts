import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import {
	type BrowserContextOptions,
	chromium,
	type Page,
} from "playwright-core";
import { onTestFinished, type TestContext } from "vitest";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HOW_TO_GET_ONE =
	"apt-get install chromium (Debian), or set CHROMIUM_BIN to the path of a Chromium or Chrome";

/** A page of a browser, and what went wrong in it so far. */
interface OpenPage {
	readonly page: Page;
	/** Errors that were thrown in it, and those that the browser wrote to its console. */
	readonly problems: readonly string[];
}

/**
 * CHROMIUM_BIN, else the first browser on PATH; undefined: there is none. It is not
 * installed here: unlike etcd it is no single file, and a hundred packages on
 * somebody's machine are not a test's to add.
 * @throws Error where CHROMIUM_BIN is no program
 */
function findBrowser(
	env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
	const named = env.CHROMIUM_BIN;
	if (named) {
		if (isExecutable(named)) return named;
		throw new Error(
			`CHROMIUM_BIN=${named} is no program. Set it to the path of a Chromium or Chrome, or unset it`,
		);
	}
	const folders = (env.PATH ?? "").split(":").filter(isAbsolute);
	return NAMES.flatMap((name) =>
		folders.map((folder) => join(folder, name)),
	).find(isExecutable);
}

/** Opens a browser of its own, which ends with the test. Where the machine has none, the test is skipped. */
export async function openPage(
	context: TestContext,
	options: BrowserContextOptions = {},
): Promise<OpenPage> {
	const executablePath = findBrowser();
	if (executablePath === undefined) {
		context.skip(`no Chromium here: ${HOW_TO_GET_ONE}`);
	}
	const browser = await chromium.launch({
		executablePath,
		// Chromium does not build its sandbox as root, as which containers often run tests.
		args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
	});
	onTestFinished(() => browser.close());
	const page = await browser.newPage(options);
	const problems: string[] = [];
	page.on("pageerror", ({ message }) => problems.push(message));
	page.on("console", (message) => {
		if (message.type() === "error") problems.push(message.text());
	});
	return { page, problems };
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
