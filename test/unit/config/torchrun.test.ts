import { describe, expect, it } from "vitest";
import { settingsFromTorchrun } from "../../../src/config/environment.js";
import { mergeSettings } from "../../../src/config/exclusions.js";
import { OPTIONS } from "../../../src/config/options.js";
import { givenBackend } from "../../../src/config/resolve-store.js";
import { SettingReader } from "../../../src/config/settings.js";

const read = (environment: Record<string, string>) => {
	const { settings, warnings } = settingsFromTorchrun(environment);
	const texts = [...settings].map(([key, { text }]) => [key, text]);
	return { texts: Object.fromEntries(texts), warnings };
};

describe("torchrun's variables", () => {
	it("are the defaults of flags", () => {
		const values = {
			PET_NNODES: "nnodes",
			PET_NPROC_PER_NODE: "nprocPerNode",
			PET_RDZV_ID: "runId",
			PET_LOCAL_ADDR: "localAddr",
			PET_SHUTDOWN_TIMEOUT: "shutdownTimeout",
			PET_VIRTUAL_LOCAL_RANK: "virtualLocalRank",
			TORCH_ELASTIC_SHUTDOWN_TIMEOUT: "shutdownTimeout",
			TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE: "logPrefix",
		};
		for (const [name, key] of Object.entries(values)) {
			expect(read({ [name]: "x" }).texts).toEqual({ [key]: "x" });
			expect(read({ [name]: "" })).toEqual({ texts: {}, warnings: [] });
		}
	});

	it.each([
		["PET_STANDALONE", "standalone"],
		["PET_NO_PYTHON", "noNode"],
	])("the switch %s takes whole numbers, as torchrun's", (name, key) => {
		const texts = { 0: "0", 1: "1", "2": "1", " -1 ": "1", yes: "yes" };
		for (const [text, meant] of Object.entries(texts)) {
			expect(read({ [name]: text }).texts).toEqual({ [key]: meant });
		}
	});

	it("without effect are one warning, except those of a worker", () => {
		const idle = {
			PET_START_METHOD: "fork",
			PET_N_PROC_PER_NODE: "8",
			TORCHELASTIC_HEALTH_CHECK_PORT: "80",
			TORCHELASTIC_RUN_ID: "outer",
			TORCHELASTIC_ERROR_FILE: "/dev/termination-log",
		};
		expect(read(idle).warnings).toEqual([
			"environment PET_START_METHOD, PET_N_PROC_PER_NODE, TORCHELASTIC_HEALTH_CHECK_PORT, TORCHELASTIC_RUN_ID have no effect here",
		]);
		expect(
			read({
				LOCAL_RANK: "0",
				TORCHELASTIC_RUN_ID: "outer",
				TORCHELASTIC_MAX_RESTARTS: "3",
				TORCHELASTIC_USE_AGENT_STORE: "False",
			}).warnings,
		).toEqual([]);
	});

	it("are the outer run's in a worker", () => {
		const outer = { PET_NNODES: "2", PET_START_METHOD: "fork" };
		expect(read({ ...outer, ELASTIC_RUN_CHANNEL: "/c" })).toEqual({
			texts: {},
			warnings: [],
		});
	});

	it.each([
		[{ PET_RDZV_ENDPOINT: "node0:29400" }, undefined, "static"],
		[
			{ PET_RDZV_ENDPOINT: "node0:29400", PET_RDZV_BACKEND: "c10d" },
			undefined,
			"c10d",
		],
		[{ PET_RDZV_ENDPOINT: "node0:29400" }, "etcd:2379", undefined],
	])("%j and the flag %s mean the backend %s", (variables, flag, backend) => {
		const setting = { place: "--rdzv-endpoint", origin: "flag" };
		const flags = new Map(
			flag === undefined
				? []
				: [[OPTIONS.rdzvEndpoint.key, { ...setting, text: flag }]],
		);
		const { settings } = settingsFromTorchrun(variables);
		const reader = new SettingReader(
			mergeSettings([flags, settings]),
			() => {},
			({ name }) => name,
		);
		expect(givenBackend(reader)).toBe(backend);
	});
});
