import { afterAll, describe, expect, test } from "vitest";
import { systemHost } from "../../../src/config/host.js";
import { ALL_OPTIONS } from "../../../src/config/options.js";
import { resolveSettings } from "../../../src/config/resolve.js";
import type { Setting } from "../../../src/config/settings.js";
import {
	type CommandLine,
	readCommandLine,
} from "../../../src/config/sources.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Texts = Readonly<Record<string, string>>;

/** By option key, what is typed and what stands in the option's variable. */
async function resolve(typed: Texts, inVariables: Texts) {
	const optionOf = (key: string) =>
		ALL_OPTIONS.find((option) => option.key === key);
	const flags = Object.entries(typed).map(([key, text]): [string, Setting] => [
		key,
		{ text, place: `--${optionOf(key)?.name}`, origin: "flag" },
	]);
	const line: CommandLine = {
		flags: new Map(flags),
		script: "true",
		args: [],
		problems: [],
	};
	const variables = Object.entries(inVariables).flatMap(([key, text]) =>
		(optionOf(key)?.variables ?? []).map((name) => [name, text]),
	);
	const environment = {
		PATH: process.env.PATH,
		...Object.fromEntries(variables),
	};
	const host = {
		...systemHost(environment),
		cwd: folder.path,
		stdin: "other" as const,
	};
	const { request } = await readCommandLine(line, host);
	const resolution = await resolveSettings(request, host);
	return { resolution, settings: request.settings };
}

describe("a flag beats a variable", () => {
	test.each(
		ALL_OPTIONS.map((option) => [option.name, option] as const),
	)("--%s, whatever stands in its variables", async (_, option) => {
		const { settings } = await resolve(
			{ [option.key]: "typed" },
			{ [option.key]: "inherited" },
		);
		expect(settings.get(option.key)?.text).toBe("typed");
	});

	const endpoint = { rdzvEndpoint: "etcd:2379" };
	const several = { nnodes: "2:4" };
	const master = { masterAddr: "node0" };
	test.each<[Texts, Texts, "memory" | "etcd"]>([
		[{ standalone: "1" }, endpoint, "memory"],
		[{ standalone: "1" }, { ...endpoint, ...several, ...master }, "memory"],
		[{ rdzvBackend: "memory" }, several, "memory"],
		[endpoint, { standalone: "1" }, "etcd"],
		[several, { rdzvBackend: "memory" }, "etcd"],
		[{ rdzvBackend: "etcd" }, { standalone: "1" }, "etcd"],
	])("%j typed, %j in variables: no conflict, and what was typed holds", async (typed, inVariables, backend) => {
		const { resolution } = await resolve(typed, inVariables);
		expect(resolution).toMatchObject({ config: { backend } });
	});

	test("--master-addr, whatever endpoint or backend stands in a variable", async () => {
		const { settings } = await resolve(
			{ ...several, ...master },
			{ ...endpoint, rdzvBackend: "etcd" },
		);
		expect([...settings.keys()].sort()).toEqual(["masterAddr", "nnodes"]);
	});

	test.each([
		[{ module: "1" }, { noNode: "1" }],
		[{ noNode: "1" }, { module: "1" }],
	])("%j typed, %j in a variable", async (typed, inVariables) => {
		const { settings } = await resolve(typed, inVariables);
		expect([...settings.keys()]).toEqual(Object.keys(typed));
	});

	test.each<[Texts, Texts]>([
		[{ standalone: "0" }, endpoint],
		[{ nnodes: "1" }, endpoint],
		[{ nnodes: "two" }, { standalone: "1" }],
	])("%j typed leaves %j in variables as it is", async (typed, inVariables) => {
		const { settings } = await resolve(typed, inVariables);
		expect(settings.size).toBe(2);
	});

	test("--standalone makes an endpoint beside it idle, with one warning", async () => {
		const { resolution } = await resolve(
			{ standalone: "1", rdzvBackend: "c10d", ...endpoint },
			{},
		);
		expect(resolution).toMatchObject({ config: { backend: "memory" } });
		expect(resolution.warnings).toEqual([
			"--rdzv-backend and --rdzv-endpoint: without effect, because of --standalone",
		]);
	});

	test("what cannot be combined is refused where both are typed, or both are variables", async () => {
		const both = { standalone: "1", ...several };
		const words = /one node without a store cannot be combined with/;
		for (const [typed, inVariables] of [
			[both, {}],
			[{}, both],
		] as const) {
			const { resolution } = await resolve(typed, inVariables);
			expect("error" in resolution && resolution.error.message).toMatch(words);
		}
	});
});
