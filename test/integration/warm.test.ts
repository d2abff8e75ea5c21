import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { openSite } from "../helpers/launch.js";
import { isAlive } from "../helpers/processes.js";
import { isReady, order, told } from "../helpers/warm.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/warm/everything.py", import.meta.url),
);

// All that a script could see: test/slow/warm.test.ts.
it("a restarted Python worker is forked from a helper with its imports, sees no difference, and nothing is left", async (context) => {
	needPython(context);
	const site = openSite();
	const launch = site.launch(
		["--warm", "auto", SCRIPT, join(site.path, "order")],
		{ env: { PYTHON_EXEC: PYTHON } },
	);
	const helper = await isReady(launch);
	order(site, 1, "exit");
	await launch.saw("stderr", "round 2: workers start warm");
	const [cold, warm] = await told<{ readonly told: unknown }>(launch, 2);
	expect(warm?.told).toEqual(cold?.told);
	order(site, 2, "pools");
	expect((await launch.ended).exitCode).toBe(0);
	expect(isAlive(helper)).toBe(false);
	await site.isSwept();
});
