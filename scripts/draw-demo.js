// Draws what the demo prints as a terminal, for the README: an SVG on stdout.
//
//   npm run demo | node scripts/draw-demo.js > docs/demo.svg
//
// It shows the run with the kills. Of the training steps it shows each hundredth.
import { text } from "node:stream/consumers";

const START = "The same by four";
const COMMAND = "$ npm run demo";
const [CHARACTER, LINE, MARGIN, BAR] = [8.4, 20, 20, 34];
const COLORS = [
	[/^\$/, "#7ee787"],
	[/ kill -9 /, "#ff7b72"],
	[/ failed: /, "#ffa657"],
	[/ resumed at | runs \d+ ms after /, "#7ee787"],
	[/^ok /, "#7ee787"],
	[/ launcher /, "#79c0ff"],
];
const PLAIN = "#c9d1d9";
const DOTS = ["#ff5f57", "#febc2e", "#28c840"];

/** Lines that say nothing new to somebody who looks at a picture. */
const DULL = [/ step (?!\d+00:)\d+: /, /^$/];
const DULL_WORDS = [" pids of ", " claims round 1", ": logs in ", "lost the"];

const printed = await text(process.stdin);
const [, story] = printed.split(START);
if (story === undefined) throw new Error("stdin is not what the demo prints");
const lines = story
	.split("\n")
	.slice(1)
	.filter((line) => !DULL.some((pattern) => pattern.test(line)))
	.filter((line) => !DULL_WORDS.some((words) => line.includes(words)));
process.stdout.write(draw([COMMAND, ...lines]));

function draw(rows) {
	const width = Math.max(...rows.map((row) => row.length)) * CHARACTER;
	const [outerWidth, height] = [
		Math.ceil(width + 2 * MARGIN),
		rows.length * LINE + BAR + MARGIN,
	];
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${outerWidth} ${height}" width="${outerWidth}" height="${height}" role="img">`,
		"<title>npm run demo: two of four workers are killed, and the training ends as if nothing had happened</title>",
		`<rect width="${outerWidth}" height="${height}" rx="10" fill="#0d1117"/>`,
		...DOTS.map(
			(color, index) =>
				`<circle cx="${MARGIN + index * 18}" cy="18" r="6" fill="${color}"/>`,
		),
		'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14" xml:space="preserve">',
		...rows.map(drawRow),
		"</g>",
		"</svg>\n",
	].join("\n");
}

function drawRow(row, index) {
	const [, color] = COLORS.find(([pattern]) => pattern.test(row)) ?? [];
	const y = BAR + LINE * (index + 1) - 4;
	const length = (row.length * CHARACTER).toFixed(1);
	return `<text x="${MARGIN}" y="${y}" textLength="${length}" fill="${color ?? PLAIN}">${escaped(row)}</text>`;
}

function escaped(row) {
	return row.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
