// What was measured, as a table on the console and as the page of results: pure.

const HEADINGS = ["figure", "launcher", "median", "min–max", "n"];
const JUDGED = ["of it", "goal", "ratio", "met"];
const MARKS = ["<!-- results: npm run bench -- --write -->", "<!-- end -->"];
const PAGE_HEAD = [
	"| figure | goal | ratio | elastic-run | others: median, elastic-run's multiple of it | on, load before |",
	"|---|---|---|---|---|---|",
].join("\n");

/** What the figures depend on, a line each. */
export function machineInWords({ machine, versions, skipped }) {
	const programs = [
		`node ${versions.node}`,
		`elastic-run ${versions.elasticRun}`,
		`torch ${versions.torch ?? "none"}`,
		`etcd ${versions.etcd ?? "none"}`,
		`cc ${versions.cc ?? "none"}`,
	];
	return [
		`machine:  ${hardwareOf(machine)}, load ${machine.loadAverage}`,
		`versions: ${programs.join(", ")}`,
		...skipped.map((words) => `skipped:  ${words}`),
	].join("\n");
}

function hardwareOf({ cpu, cores, memoryGiB, kernel }) {
	return `${cpu}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}`;
}

/** One table of all figures, in Markdown. */
export function tableOf(figures) {
	const headings = [...HEADINGS, ...JUDGED];
	const rows = [headings, ...figures.flatMap(rowsOf)];
	const widths = headings.map((_, column) =>
		Math.max(...rows.map((row) => row[column].length)),
	);
	const lines = rows.map((row) =>
		row.map((cell, column) => cell.padEnd(widths[column])).join(" | "),
	);
	const rule = widths.map((width) => "-".repeat(width)).join(" | ");
	return [lines[0], rule, ...lines.slice(1)]
		.map((line) => `| ${line} |`)
		.join("\n");
}

/** What belongs to a figure and has no place in the table, a line each. */
export function notesOf(figures) {
	return figures.flatMap(({ name, notes }) =>
		notes.map((note) => `${name}: ${note}`),
	);
}

function rowsOf(figure) {
	const judged = [
		goalInWords(figure),
		timesInWords(figure),
		metInWords(figure),
	];
	return figure.results.map((result, index) => [
		index === 0 ? figure.name : "",
		result.launcher,
		`${precise(result.median)} ${figure.unit}`,
		`${precise(result.min)}–${precise(result.max)}`,
		String(result.samples.length),
		timesInWords(result),
		...(index === 0 ? judged : ["", "", ""]),
	]);
}

function goalInWords({ goal: { atMost, atLeast, times } }) {
	const limit = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
	return `${limit} × ${times.length === 1 ? times[0] : `(${times.join(" + ")})`}`;
}

function timesInWords({ ratio }) {
	return ratio === null ? "" : `${precise(ratio)} ×`;
}

function metInWords({ isMet }) {
	if (isMet === null) return "unknown";
	return isMet ? "yes" : "no";
}

/**
 * The page with the rows of these figures anew. Those of other figures stay, but not of another machine, or of none.
 * @param {string} page
 * @param {{ machine: object, versions: Readonly<Record<string, string | null>>, day: string, isQuick: boolean }} head
 * @param {readonly object[]} figures
 * @param {readonly string[]} names of all figures, in their order
 */
export function pageWith(
	page,
	{ machine, versions, day, isQuick },
	figures,
	names,
) {
	const [before, rest] = page.split(MARKS[0]);
	const [old, after] = (rest ?? "").split(MARKS[1]);
	if (after === undefined) throw new Error(`no "${MARKS.join(" … ")}"`);
	const { node, torch, etcd } = versions;
	const where = `${hardwareOf(machine)}; Node ${node}, torch ${torch ?? "none"}, etcd ${etcd ?? "none"}`;
	const on = `${day}, ${machine.loadAverage}${isQuick ? ", quick" : ""}`;
	const rows = new Map(old.includes(where) ? rowsOnPage(old) : []);
	for (const figure of figures) rows.set(figure.name, pageRow(figure, on));
	const lines = names.flatMap((name) => rows.get(name) ?? []);
	const results = `\n${where}.\n\n${PAGE_HEAD}\n${lines.join("\n")}\n`;
	return `${before}${MARKS[0]}${results}${MARKS[1]}${after}`;
}

/** @returns {[name: string, row: string][]} */
export function rowsOnPage(page) {
	return [...page.matchAll(/^\| `([^`]+)` .*$/gm)].map(([row, name]) => [
		name,
		row,
	]);
}

function pageRow(figure, on) {
	const { name, title, unit, isMet, results } = figure;
	const [own, ...others] = results;
	const ratio = timesInWords(figure) || metInWords(figure);
	const cells = [
		`\`${name}\` ${title}`,
		goalInWords(figure),
		isMet === false ? `**${ratio}**` : ratio,
		`${precise(own.median)} ${unit}`,
		others
			.map((one) =>
				`${one.launcher} ${precise(one.median)} ${timesInWords(one) && `(${timesInWords(one)})`}`.trim(),
			)
			.join("; "),
		on,
	];
	return `| ${cells.join(" | ")} |`;
}

/** What the first page says of restarts, in percent of torchrun's time. */
const PROMISE = /\d+ % of torchrun's time on one node, and in \d+ % on two/;

/**
 * The first page with the figures of the page of results, where that has them.
 * @param {string} readme
 * @param {string} page
 */
export function readmeWith(readme, page) {
	const rows = new Map(rowsOnPage(page));
	const [one, two] = ["restart-4", "cluster-restart"].map((name) => {
		const times = /torchrun [\d.]+ \(([\d.]+) ×\)/.exec(rows.get(name) ?? "");
		return times && Math.round(100 * Number(times[1]));
	});
	if (!PROMISE.test(readme)) throw new Error(`it does not say ${PROMISE}`);
	if (one === null || two === null) return readme;
	return readme.replace(
		PROMISE,
		`${one} % of torchrun's time on one node, and in ${two} % on two`,
	);
}

/** Three significant digits, and no fewer than the whole number has. */
function precise(value) {
	return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
