import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "../../../bin/commands/status.js";
import { systemHost } from "../../../src/config/host.js";
import { resolveRunRequest } from "../../../src/operate/run-request.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
beforeAll(() => {
	writeFileSync(join(folder.path, "etcd.yaml"), "rdzvEndpoint: h:2379\n");
	writeFileSync(join(folder.path, "large.yaml"), "nnodes: 2:4\n");
	writeFileSync(join(folder.path, "one.yaml"), "standalone: true\n");
});
afterAll(() => folder.remove());

async function request(
	args: readonly string[],
	environment: Record<string, string> = {},
) {
	const { given } = command.read(args);
	const host = { ...systemHost(environment), cwd: folder.path };
	return resolveRunRequest(given, host);
}

const DEFAULT = ["127.0.0.1:2379"];

describe("where a command looks for a run", () => {
	it.each<
		[
			string,
			readonly string[],
			Record<string, string>,
			{ local: boolean; endpoints?: readonly string[]; assumed?: boolean },
		]
	>([
		[
			"nothing is said",
			[],
			{},
			{ local: true, endpoints: DEFAULT, assumed: true },
		],
		[
			"--rdzv-backend memory",
			["--rdzv-backend", "memory"],
			{},
			{ local: true },
		],
		[
			"--rdzv-backend etcd",
			["--rdzv_backend=etcd"],
			{},
			{ local: false, endpoints: DEFAULT },
		],
		[
			"--rdzv-endpoint",
			["--rdzv-endpoint", "a:1,b:2"],
			{},
			{ local: false, endpoints: ["a:1", "b:2"] },
		],
		[
			"the environment",
			[],
			{ ELASTIC_RUN_RDZV_ENDPOINT: "e:1" },
			{ local: false, endpoints: ["e:1"] },
		],
		[
			"a config file",
			["--config", "etcd.yaml"],
			{},
			{ local: false, endpoints: ["h:2379"] },
		],
		[
			"several nodes in it",
			["--config", "large.yaml"],
			{},
			{ local: false, endpoints: DEFAULT },
		],
		["standalone in it", ["--config", "one.yaml"], {}, { local: true }],
	])("%s", async (_, args, environment, expected) => {
		const { local, endpoints, assumed = false } = expected;
		expect(await request(args, environment)).toMatchObject({
			places: {
				local,
				store: endpoints === undefined ? undefined : { endpoints },
				isStoreAssumed: assumed,
			},
		});
	});

	it("is refused with all that is wrong", async () => {
		expect(await request(["--rdzv-endpoint", "h", "--output", "xml"])).toEqual({
			problems: [
				expect.stringContaining("--rdzv-endpoint: "),
				expect.stringContaining("--output: "),
			],
		});
	});
});
