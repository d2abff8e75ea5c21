// Measures elastic-run against what people write by hand and against torchrun.
// Usage: node bench/run.js [--quick|--smoke] [--count N] [--output text|json] [--write] [--trace] [FIGURE …]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compilePrograms } from "./compile.js";
import { whyNoEtcd } from "./etcd.js";
import { FIGURES } from "./figures.js";
import { canImportTorch, findLaunchers, PYTHON } from "./launchers.js";
import { describeMachine, describeVersions } from "./machine.js";
import { measureFigure } from "./measure.js";
import {
	machineInWords,
	notesOf,
	pageWith,
	readmeWith,
	tableOf,
} from "./report.js";

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		quick: { type: "boolean", default: false },
		smoke: { type: "boolean", default: false },
		output: { type: "string", default: "text" },
		count: { type: "string" },
		write: { type: "boolean", default: false },
		trace: { type: "boolean", default: false },
	},
});
const wanted = FIGURES.filter(({ name, isApart }) =>
	positionals.length === 0
		? !isApart
		: positionals.some((word) => isMeant(name, word)),
);
if (wanted.length === 0 || !["text", "json"].includes(values.output)) {
	const names = FIGURES.map(({ name }) => name).join(", ");
	console.error(`bench: --output text|json; the figures are ${names}`);
	process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "elastic-run-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
await bench(scratch);

/** A word is a figure's name, or the begin of several names. */
function isMeant(name, word) {
	const isName = FIGURES.some((figure) => figure.name === word);
	return isName ? name === word : name.startsWith(`${word}-`);
}

async function bench(directory) {
	const machine = describeMachine();
	const { worker, launcher } = compilePrograms(directory);
	const { launchers, skipped } = findLaunchers(launcher);
	const { measurable, leftOut } = whatCanBeMeasured();
	skipped.push(...leftOut);
	const head = { machine, versions: describeVersions(), skipped };
	const asText = values.output === "text";
	if (asText) console.log(`${machineInWords(head)}\n`);

	const count =
		values.count === undefined ? {} : { count: Number(values.count) };
	const place = {
		...{ worker, scratch: directory, isSmoke: values.smoke },
		isQuick: values.quick || values.smoke,
		isTraced: values.trace,
		...count,
	};
	const figures = [];
	const failed = [];
	const report = () => {
		tell("");
		if (values.write) write(head, figures);
		console.log(
			asText
				? inWords(figures, failed)
				: JSON.stringify({ ...head, figures, failed }, null, "\t"),
		);
	};
	onSignal(report);
	for (const figure of measurable) {
		try {
			figures.push(await measureFigure(figure, launchers, place, tell));
		} catch (error) {
			failed.push({ name: figure.name, error: error.message });
			process.exitCode = 1;
		}
	}
	report();
}

/** The wanted figures, and in words which of them this machine cannot measure. */
function whatCanBeMeasured() {
	const noEtcd = whyNoEtcd();
	const noTorch = canImportTorch() ? undefined : `${PYTHON} has no torch`;
	const whyNot = (figure) =>
		(figure.needsEtcd && noEtcd) || (figure.needsTorch && noTorch) || undefined;
	const leftOut = [noEtcd, noTorch].flatMap((why) => {
		const those = wanted.filter((one) => whyNot(one) === why);
		const names = those.map(({ name }) => name).join(", ");
		return why === undefined || names === "" ? [] : [`${names}: ${why}`];
	});
	const measurable = wanted.filter((one) => whyNot(one) === undefined);
	return { measurable, leftOut };
}

/** The page of results, and the first page's figures, which come from it. */
function write({ machine, versions }, figures) {
	const at = (path) => fileURLToPath(new URL(path, import.meta.url));
	const change = (path, changed) =>
		writeFileSync(path, changed(readFileSync(path, "utf8")));
	const day = new Date().toISOString().slice(0, 10);
	const names = FIGURES.map(({ name }) => name);
	const page = at("README.md");
	const head = { machine, versions, day, isQuick: values.quick };
	change(page, (text) => pageWith(text, head, figures, names));
	const results = readFileSync(page, "utf8");
	change(at("../README.md"), (text) => readmeWith(text, results));
}

/** What was measured until then is not lost. */
function onSignal(report) {
	for (const signal of ["SIGINT", "SIGTERM"]) {
		process.on(signal, () => {
			report();
			process.exit(1);
		});
	}
}

function inWords(figures, failed) {
	const parts = [
		figures.length > 0 ? [tableOf(figures)] : [],
		figures.map(
			({ name, title, seconds }) =>
				`${name}: ${title} (measured in ${seconds.toFixed(0)} s)`,
		),
		notesOf(figures),
		failed.map(({ name, error }) => `FAILED ${name}: ${error}`),
	];
	return parts
		.filter((lines) => lines.length > 0)
		.map((lines) => lines.join("\n"))
		.join("\n\n");
}

/** The newest line only, and on a terminal only. */
function tell(words) {
	if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${words}`);
}
