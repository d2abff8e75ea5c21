import { expect, it } from "vitest";
import { freePort } from "../helpers/free-port.js";
import { openSite } from "../helpers/launch.js";

it("gives each Node worker a debugger's port of its own, and takes none itself", async () => {
	const port = await freePort();
	const script = `console.log(require("node:inspector").url())`;
	const { exitCode, stdout } = await openSite().launch(
		["--nproc-per-node", "2", "node", "-e", script],
		{ env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` } },
	).ended;
	expect(exitCode).toBe(0);
	expect(stdout).toContain(`ws://127.0.0.1:${port}/`);
	expect(stdout).toContain(`ws://127.0.0.1:${port + 1}/`);
});
