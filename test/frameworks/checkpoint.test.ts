// The checkpoints of the library for Python with what torch saves.
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

it("two ranks save shards as one checkpoint; tensors and generators come back; loading runs no code of the file", {
	timeout: 240_000,
}, async (context) => {
	needTorch(context);
	const site = openSite();
	const file = join(ROOT, "test/fixtures/python/checkpoint_torch.py");
	const flags = ["--standalone", "--nproc-per-node", "2", "--max-restarts=0"];
	const { exitCode, stdout, stderr } = await site.launch(
		[...flags, file, join(site.path, "checkpoints")],
		{ env: { PYTHON_EXEC: PYTHON } },
	).ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout.match(/rank \d is content/g)).toHaveLength(2);
});
