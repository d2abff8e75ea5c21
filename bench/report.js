const HEADINGS = [
	"figure",
	"launcher",
	"median",
	"min–max",
	"n",
	"ratio",
	"goal",
	"met",
];

/** What the figures depend on, a line each. */
export function machineInWords({ machine, versions, skipped, isCompiled }) {
	const { cpu, cores, memoryGiB, kernel, loadAverage } = machine;
	const programs = [
		`node ${versions.node}`,
		`elastic-run ${versions.elasticRun}`,
		`torch ${versions.torch ?? "none"}`,
		`etcd ${versions.etcd ?? "none"}`,
		`cc ${versions.cc ?? "none"}`,
	];
	return [
		`machine:  ${cpu}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}, load ${loadAverage}`,
		`versions: ${programs.join(", ")}`,
		...(isCompiled
			? []
			: ["worker:   a shell script, for want of a C compiler"]),
		...skipped.map((words) => `skipped:  ${words}`),
	].join("\n");
}

/** One table of all figures, in Markdown. */
export function tableOf(figures) {
	const rows = [HEADINGS, ...figures.flatMap(rowsOf)];
	const widths = HEADINGS.map((_, column) =>
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
	return figures.flatMap(({ name, goal, unit, notes, results }) => {
		const tails = results.map(
			({ launcher, p95 }) => `${launcher} ${precise(p95)} ${unit}`,
		);
		const tail =
			goal.p95AtMost === undefined ? [] : [`p95 ${tails.join(", ")}`];
		return [...tail, ...notes].map((note) => `${name}: ${note}`);
	});
}

function rowsOf(figure) {
	return figure.results.map((result, index) => [
		index === 0 ? figure.name : "",
		result.launcher,
		`${precise(result.median)} ${figure.unit}`,
		`${precise(result.min)}–${precise(result.max)}`,
		String(result.samples.length),
		result.ratio === null ? "" : `${precise(result.ratio)} ×`,
		index === 0 ? goalInWords(figure) : "",
		index === 0 ? verdict(figure) : "",
	]);
}

function goalInWords({ goal, unit }) {
	const { atMost, atLeast, timesPeer, p95AtMost } = goal;
	const measure = timesPeer === undefined ? unit : `× ${timesPeer}`;
	return [
		...(atMost === undefined ? [] : [`≤ ${atMost} ${measure}`]),
		...(atLeast === undefined ? [] : [`≥ ${atLeast} ${measure}`]),
		...(p95AtMost === undefined ? [] : [`p95 ≤ ${p95AtMost} ${unit}`]),
	].join(", ");
}

function verdict({ isMet, goal }) {
	if (Object.keys(goal).length === 0) return "";
	if (isMet === null) return "unknown";
	return isMet ? "yes" : "no";
}

/** Three significant digits, and no fewer than the whole number has. */
function precise(value) {
	return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
