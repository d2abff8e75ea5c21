import { describe, expect, test } from "vitest";
import { settingsFromEnvironment } from "../../../src/config/environment.js";
import { mergeSettings } from "../../../src/config/exclusions.js";
import { withoutServices } from "../../../src/config/sources.js";
import { settingsFromValues } from "../../../src/config/values.js";

describe("the environment", () => {
	const read = (environment: Record<string, string>) => {
		const { settings, warnings } = settingsFromEnvironment(environment);
		const texts = [...settings].map(([key, { text }]) => [key, text]);
		return { texts: Object.fromEntries(texts), warnings };
	};

	test.each([
		[{ ELASTIC_RUN_NPROC_PER_NODE: "4" }, { nprocPerNode: "4" }],
		[{ ELASTIC_RUN_RDZV_ID: "a" }, { runId: "a" }],
		[{ ELASTIC_RUN_RDZV_ID: "a", ELASTIC_RUN_RUN_ID: "b" }, { runId: "b" }],
		[{ ELASTIC_RUN_NNODES: "" }, {}],
		[
			{
				ELASTIC_RUN_CHANNEL: "/c",
				ELASTIC_RUN_RUN_ID: "a",
			},
			{},
		],
		[{ ELASTIC_RUN_CHANNEL: "/c", ELASTIC_RUN_TEE: "0" }, { tee: "0" }],
	])("%j", (environment, texts) => {
		expect(read(environment)).toEqual({ texts, warnings: [] });
	});

	test.each([
		["ELASTIC_RUN_NPROC", "; did you mean ELASTIC_RUN_NPROC_PER_NODE?"],
		["ELASTIC_RUN_XYZZY", ""],
	])("%s is not known", (name, hint) => {
		expect(read({ [name]: "4" })).toEqual({
			texts: {},
			warnings: [`environment ${name} is not known and has no effect${hint}`],
		});
	});
});

describe("values of a file or an object", () => {
	const read = (values: Record<string, unknown>) => {
		const { settings, problems } = settingsFromValues(values, {
			placeOf: (key) => `x.yaml: ${key}`,
			origin: "x.yaml",
			refusedKeys: new Map([["config", "cannot stand in a file"]]),
		});
		const texts = [...settings].map(([key, { text }]) => [key, text]);
		return { texts: Object.fromEntries(texts), problems };
	};

	test.each([
		[{ "max-restarts": "3", max_restarts: undefined }, { maxRestarts: "3" }],
		[
			{ nnodes: "1:4", rdzvId: "a" },
			{ nnodes: "1:4", runId: "a" },
		],
		[
			{ standalone: true, noPython: false },
			{ standalone: "1", noNode: "0" },
		],
		[
			{ signalsToHandle: ["SIGTERM", "SIGINT"] },
			{ signalsToHandle: "SIGTERM,SIGINT" },
		],
		[{ redirects: { 0: 1, 1: 3 } }, { redirects: "0:1,1:3" }],
		[
			{ rdzvConf: { joinTimeout: 30, lease_ttl: "5s" } },
			{ rdzvConf: "joinTimeout=30,lease_ttl=5s" },
		],
	])("%j", (values, texts) => {
		expect(read(values)).toEqual({ texts, problems: [] });
	});

	test.each([
		[
			{ maxRestart: 3 },
			"x.yaml: maxRestart: is not known here; did you mean maxRestarts?",
		],
		[{ config: "y.yaml" }, "x.yaml: config: cannot stand in a file"],
		[
			{ constructor: 1 },
			"x.yaml: constructor: is not known here; use the flags of elastic-run --help, in camelCase",
		],
		[
			{ maxRestarts: true },
			"x.yaml: maxRestarts: expected a number or a text, got true",
		],
		[
			{ runId: 42 },
			"x.yaml: runId: expected a text, got 42; put it in quotation marks",
		],
		[{ standalone: 1 }, "x.yaml: standalone: expected true or false, got 1"],
		[
			{ rdzvConf: { a: { b: 1 } } },
			"x.yaml: rdzvConf: a: expected a number or a text, got a map",
		],
		[
			{ nnodes: 1, "run-id": "a", runId: "b" },
			"x.yaml: runId: is set twice; set it once",
		],
	])("not %j", (values, problem) => {
		expect(read(values).problems).toEqual([problem]);
	});
});

test("an earlier source comes first", () => {
	const source = (text: string) =>
		new Map([["tee", { text, place: "", origin: "" }]]);
	const merged = mergeSettings([new Map(), source("1"), source("2")]);
	expect(merged.get("tee")?.text).toBe("1");
});

test("K5 what Kubernetes writes for a Service is not read as settings", () => {
	const service = {
		ELASTIC_RUN_MASTER_PORT: "tcp://10.3.0.7:29500",
		ELASTIC_RUN_MASTER_SERVICE_HOST: "10.3.0.7",
		ELASTIC_RUN_MASTER_SERVICE_PORT_RDZV: "29500",
		ELASTIC_RUN_MASTER_PORT_29500_TCP: "tcp://10.3.0.7:29500",
		ELASTIC_RUN_MASTER_PORT_29500_TCP_ADDR: "10.3.0.7",
		PET_MASTER_PORT: "udp://10.3.0.8:1",
	};
	const own = { ELASTIC_RUN_HTTP: "8080", PET_NNODES: "2", PATH: "/bin" };
	expect(withoutServices({ ...service, ...own })).toEqual({
		environment: own,
		notes: [
			`environment ${Object.keys(service).join(", ")}: written by Kubernetes for a Service, not read as settings`,
		],
	});
	const number = { PET_MASTER_PORT: "29500" };
	expect(withoutServices(number)).toEqual({ environment: number, notes: [] });
});
