import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Cleanups } from "../base/cleanups.js";
import { backgroundClock, systemClock } from "../base/clock.js";
import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import { packageFile } from "../base/package-files.js";
import { within } from "../base/within.js";
import {
	type AgentConfig,
	addressInWords,
	type HttpConfig,
} from "../config/index.js";
import type { NodeNow } from "../status/index.js";
import { Metrics } from "./metrics.js";
import { Observer } from "./observer.js";
import { isProbe, type Leave, type PageFile, Router } from "./routes.js";
import { openServer } from "./server.js";

/** How long an agent that ends waits for answers in progress and for a client's last poll, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** Why an address cannot be used, and the fix. */
const PROBLEMS: Readonly<Record<string, string>> = {
	EADDRINUSE:
		"the port is in use, perhaps by another agent of this machine; choose another one, or port 0 for a free one",
	EADDRNOTAVAIL:
		"this machine has no such address; use one of its own, or 0.0.0.0 for all of them",
	EACCES: "the port needs privileges; use one of 1024 or above",
	ENOTFOUND: "this machine does not know that name; use an address",
};

/**
 * Opens the observer of an agent; loaded only if it is wanted.
 * @throws ElasticRunError USAGE if it cannot listen on the address
 */
export async function openObserver(options: {
	readonly config: AgentConfig;
	readonly http: HttpConfig;
	readonly log: Logger;
	readonly cleanups: Cleanups;
	readonly leave: Leave;
	/** What the agent knows of its node. */
	readonly node: () => NodeNow;
}): Promise<Observer> {
	const { config, http, log, cleanups, leave, node } = options;
	const clock = backgroundClock;
	const observer = new Observer({ config, clock, node });
	const said = new Set<string>();
	const warn = (problem: string) => {
		if (!said.has(problem)) log.warn(`--http: ${problem}`);
		said.add(problem);
	};
	const startedAt = clock.wallTime() / 1000 - process.uptime();
	const metrics = new Metrics(startedAt);
	const page = await readPageFiles();
	const router = new Router({ observer, metrics, page, clock, leave });
	let { port } = http;
	try {
		const server = await openServer({
			address: http,
			clock,
			isProbe,
			answer: (request) => router.answer(request, { ...http, port }),
			onError: (error) => warn(messageOf(error)),
		});
		cleanups.add("closing the HTTP server", async () => {
			const known = router.endIsKnown().then(() => server.settled());
			await within(systemClock, LAST_WORDS_MS, known);
			server.close();
		});
		port = server.port;
	} catch (error) {
		const code = systemErrorCode(error) ?? "";
		throw new ElasticRunError(
			"USAGE",
			`--http ${addressInWords(http)}: ${PROBLEMS[code] ?? messageOf(error)}`,
			{ cause: error },
		);
	}
	const url = `http://${addressInWords({ ...http, port })}/`;
	log.info(`this node can be observed at ${url}`);
	return observer;
}

/** The directory's files that belong to the page, with their content types. */
const TYPES: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
};

/** The page's files by the path under which they are served: `index.html` as `/`, others by their names. */
async function readPageFiles(
	directory: string = packageFile("dist/page"),
): Promise<ReadonlyMap<string, PageFile>> {
	const files = new Map<string, PageFile>();
	for (const name of await readdir(directory)) {
		const type = TYPES[extname(name)];
		if (type === undefined) continue;
		const body = await readFile(`${directory}/${name}`);
		files.set(name === "index.html" ? "/" : `/${name}`, { type, body });
	}
	return files;
}
