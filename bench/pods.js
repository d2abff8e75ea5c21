import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { Etcd } from "./etcd.js";
import { containersAgain, inPlace, podsAgain } from "./pods/ways.js";

const FAILURES = [1, 2, 3, 4, 5];
const NS_PER_MS = 1e6;

let runs = 0;

/**
 * What a restart of two pods takes, by who restarts what.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const POD_FIGURES = [
	{
		name: "pod-restart",
		title:
			"failure → all trainers of 2 pods started again, the kubelet's waits left out",
		unit: "ms",
		rounds: 3,
		peers: [],
		needsEtcd: true,
		goal: {},
		beside: [
			{
				name: "containers, by barrier",
				measure: (_, { time, Pod }) =>
					time((place) => containersAgain(place, Pod)),
			},
			{
				name: "pods made again",
				measure: (_, { time }) => time(podsAgain),
			},
		],
		async open({ scratch }) {
			const etcd = await Etcd.start(scratch);
			const { Pod, backOffMs } = await kubelet(scratch);
			const time = (way) => timeOf(way, scratch, etcd.endpoint);
			return {
				...{ etcd, time, Pod },
				measure: () => time(inPlace),
				notes: () => waits(backOffMs),
				close: () => etcd.stop(),
			};
		},
	},
];

/**
 * The stand-in of the tests.
 * @returns {Promise<typeof import("../test/helpers/kubelet.js")>}
 */
async function kubelet(scratch) {
	const outfile = join(scratch, "kubelet.mjs");
	const entry = new URL("../test/helpers/kubelet.ts", import.meta.url);
	await build({
		entryPoints: [fileURLToPath(entry)],
		...{ bundle: true, platform: "node", format: "esm", outfile },
	});
	return import(pathToFileURL(outfile).href);
}

/** From the failure of one trainer to the second start of the last one, in milliseconds. */
async function timeOf(way, scratch, endpoint) {
	const folder = mkdtempSync(join(scratch, "pods-"));
	const folderOf = (index) => {
		const path = join(folder, `pod-${index}`);
		mkdirSync(path, { recursive: true });
		return path;
	};
	const runId = `bench-pods-${++runs}`;
	await way({ endpoint, runId, marks: folder, folderOf });
	const marksOf = (name) =>
		readFileSync(join(folder, name), "utf8").trim().split("\n").map(BigInt);
	const [failed] = marksOf("failed");
	const starts = [0, 1].map((index) => marksOf(`started-${index}`)[1]);
	const ns = starts.map((start) => Number(start - failed));
	return Math.max(...ns) / NS_PER_MS;
}

/** The kubelet waits before containers that were restarted before, the Job before each pod. */
function waits(backOffMs) {
	const seconds = (restart) => backOffMs(restart) / 1_000;
	const row = (from) => FAILURES.map((one) => seconds(one + from)).join(", ");
	return [
		`before it, in s, at the failures ${FAILURES.join(", ")} in a row: in place 0 each; containers ${row(0)}; pods ${row(1)} (and scheduling, images, volumes)`,
	];
}
