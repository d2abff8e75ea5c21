// The Kubernetes manifests in examples/deploy, against the types of Kubernetes' API, and what they say of each other.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { METRICS, RUN_PHASES } from "../../src/http/metric-values.js";
import { AGENT_PHASES } from "../../src/status/index.js";
import { runCli } from "../helpers/cli.js";
import { needEtcd, startEtcd } from "../helpers/etcd.js";
import { pathWithEtcdctl } from "../helpers/etcdctl.js";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder } from "../helpers/processes.js";

const FOLDER = join(ROOT, "examples/deploy");
const SITE = ["site", "etcd", "job", "disruption"].map(fileOf);
const ALL = [...SITE, ...["statefulset", "barrier", "jobset"].map(fileOf)];

function fileOf(subject: string): string {
	return `kubernetes-${subject}.yaml`;
}

/** A part of a manifest. */
type Part = Readonly<Record<string, unknown>>;

function documentsIn(name: string): readonly Part[] {
	const text = readFileSync(join(FOLDER, name), "utf8");
	return parseAllDocuments(text).map((one): Part => one.toJS());
}

/** All parts below this one that have this member, with it. */
function membersOf(part: unknown, name: string): readonly Part[] {
	if (typeof part !== "object" || part === null) return [];
	const deeper = Object.values(part).flatMap((one) => membersOf(one, name));
	const own: unknown = Reflect.get(part, name);
	return isPart(own) ? [own, ...deeper] : deeper;
}

function isPart(value: unknown): value is Part {
	return typeof value === "object" && value !== null;
}

/** What the rules and panels below this part ask of Prometheus. */
function queriesOf(part: unknown): readonly string[] {
	if (!isPart(part)) return [];
	const deeper = Object.values(part).flatMap(queriesOf);
	return typeof part.expr === "string" ? [part.expr, ...deeper] : deeper;
}

/** The labels that a query selects, or groups by. */
function labelsIn(query: string): readonly string[] {
	const grouped = [...query.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)];
	const selected = [...query.matchAll(/(\w+)=~?"/g)];
	return [...grouped, ...selected].flatMap(([, names = ""]) =>
		names.split(", "),
	);
}

function nameOf({ metadata }: Part): unknown {
	return isPart(metadata) ? metadata.name : undefined;
}

const API_FILES: Readonly<Record<string, string>> = {
	"apps/v1": "apps/v1",
	"batch/v1": "batch/v1",
	"policy/v1": "policy/v1",
	v1: "core/v1",
};

/** Younger than the types. */
const YOUNG = ["restartPolicyRules"];

/** A resource as TypeScript: what its kind does not have is an error, at any depth. */
function asTypeScript(part: Part, index: number): string {
	const file = API_FILES[String(part.apiVersion)];
	const value = JSON.stringify(part, (key, inner) =>
		YOUNG.includes(key) ? undefined : inner,
	);
	return `import type { ${part.kind} as K${index} } from "kubernetes-types/${file}";
export const k${index}: K${index} = ${value};`;
}

/** A JobSet's own kind is not Kubernetes': its Jobs are. */
function jobsIn(part: Part): readonly Part[] {
	if (part.kind !== "JobSet") return [part];
	return membersOf(part, "template")
		.filter(({ spec }) => isPart(spec) && "completions" in spec)
		.map(({ spec }) => ({ apiVersion: "batch/v1", kind: "Job", spec }));
}

function problemsOf(text: string): readonly string[] {
	const path = join(ROOT, "test/manifests.ts");
	const options = {
		noEmit: true,
		strict: true,
		skipLibCheck: true,
		types: [],
		module: ts.ModuleKind.NodeNext,
		target: ts.ScriptTarget.ES2022,
	};
	const host = ts.createCompilerHost(options);
	const { getSourceFile, fileExists } = host;
	host.fileExists = (name) => name === path || fileExists(name);
	host.getSourceFile = (name, ...others) =>
		name === path
			? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
			: getSourceFile(name, ...others);
	return ts
		.getPreEmitDiagnostics(ts.createProgram([path], options, host))
		.map(({ messageText }) =>
			ts.flattenDiagnosticMessageText(messageText, "\n"),
		);
}

describe("C11 examples/deploy", () => {
	it("is what Kubernetes' API takes, and what it does not know is found", () => {
		const parts = ALL.flatMap(documentsIn).flatMap(jobsIn);
		const odd = [{ apiVersion: "apps/v1", kind: "StatefulSet", replicsa: 1 }];
		const text = [...parts, ...odd].map(asTypeScript).join("\n");
		expect(problemsOf(text)).toEqual([expect.stringContaining("replicsa")]);
	});

	it("kubectl apply -k . has all that it names", () => {
		const [kustomization] = documentsIn("kustomization.yaml");
		expect(kustomization?.resources).toEqual(expect.arrayContaining(SITE));
		const parts = SITE.flatMap(documentsIn);
		const names = (kind: string) =>
			parts.filter((part) => part.kind === kind).map(nameOf);
		expect(names("Namespace")).toEqual([kustomization?.namespace]);
		const secrets = membersOf(parts, "secret").map((one) => one.secretName);
		expect(names("Secret")).toEqual([...new Set(secrets)]);
		const claims = membersOf(parts, "persistentVolumeClaim");
		expect(claims.map((one) => one.claimName)).toEqual(
			names("PersistentVolumeClaim"),
		);
	});

	it.each(
		ALL,
	)("%s: its containers run as no root and get no privilege", (name) => {
		const pods = documentsIn(name)
			.flatMap((part) => membersOf(part, "spec"))
			.filter(({ containers }) => containers !== undefined);
		for (const { securityContext, containers, initContainers } of pods) {
			expect(securityContext).toMatchObject({ runAsNonRoot: true });
			for (const container of [containers, initContainers ?? []].flat()) {
				expect(container).toMatchObject({
					securityContext: { allowPrivilegeEscalation: false },
				});
			}
		}
	});

	it("kubernetes-etcd.yaml makes the user as which kubernetes-job.yaml logs in; without it nobody gets in", async (context) => {
		needEtcd();
		const PATH = pathWithEtcdctl();
		if (PATH === undefined) context.skip("there is no etcdctl");
		const etcd = await startEtcd();
		const { path: folder, remove } = temporaryFolder();
		onTestFinished(remove);
		const [texts = {}] = membersOf(
			documentsIn("kubernetes-site.yaml"),
			"stringData",
		);
		mkdirSync(join(folder, "login"));
		for (const [name, text] of Object.entries(texts)) {
			writeFileSync(join(folder, "login", name), String(text));
		}
		const [job] = documentsIn("kubernetes-etcd.yaml").filter(
			({ kind }) => kind === "Job",
		);
		const [command = {}] = membersOf(job, "command");
		const words = String(Object.values(command).at(-1));
		const makeUsers = () =>
			execFileSync(
				"/bin/sh",
				["-ec", words.replace("/etc/etcd-login", join(folder, "login"))],
				{
					env: { PATH, ETCDCTL_API: "3", ETCDCTL_ENDPOINTS: etcd.endpoint },
					stdio: "pipe",
				},
			);
		const login = JSON.stringify(documentsIn("kubernetes-job.yaml"))
			.match(/username=[^"]+/)?.[0]
			.replace("/etc/etcd-login", join(folder, "login"));
		const launch = (...args: string[]) =>
			runCli(
				[
					"--nnodes=1",
					"--rdzv-backend=etcd",
					"--rdzv-endpoint",
					etcd.endpoint,
					...args,
					"true",
				],
				{ cwd: folder },
			);
		const early = await launch("--rdzv-conf", login ?? "");
		expect(early.exitCode).toBe(0);
		expect(early.stderr).toContain("asks for no login");
		makeUsers();
		makeUsers();
		const inside = await launch("--rdzv-conf", login ?? "");
		expect(inside).toMatchObject({ exitCode: 0 });
		expect(inside.stderr).not.toContain("asks for no login");
		const outside = await launch();
		expect(outside.exitCode).toBe(4);
		expect(outside.stderr).toContain("asks for a user name and a password");
	});

	it.each([
		["alerts.yaml", 5],
		["grafana.json", 10],
	])("%s has %d queries, of metrics, labels and phases that there are", (name, count) => {
		const text = readFileSync(join(FOLDER, name), "utf8");
		const metricsIn = (part: string): readonly string[] =>
			part.match(/elastic_run_\w+/g) ?? [];
		const names = new Set(METRICS.map((one) => one.name));
		const unknown = metricsIn(text).filter((metric) => !names.has(metric));
		expect(unknown).toEqual([]);
		const queries = documentsIn(name).flatMap(queriesOf);
		expect(queries).toHaveLength(count);
		for (const query of queries) {
			const asked = metricsIn(query);
			expect(asked, query).not.toEqual([]);
			const labels = METRICS.filter((one) => asked.includes(one.name)).flatMap(
				(one) => one.labels,
			);
			// Each sample has the first two.
			expect(["run_id", "node_id", ...labels], query).toEqual(
				expect.arrayContaining([...labelsIn(query)]),
			);
		}
		const phases = [...text.matchAll(/phase=~?"([\w|]+)/g)].flatMap(
			([, one = ""]) => one.split("|"),
		);
		expect([...AGENT_PHASES, ...RUN_PHASES]).toEqual(
			expect.arrayContaining(phases),
		);
	});
});
