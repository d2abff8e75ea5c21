import { formatDuration } from "../../base/units.js";
import { lostOf, type Spent } from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { Section, Sign } from "./parts.js";

/** What node time is spent on, in the order of the bar; with its colour. */
const CATEGORIES = [
	["productive", "new steps", "running"],
	["repeated", "steps made again", "failure"],
	["startup", "start-up to the first step", "joining-figure"],
	["saving", "saving", "finished"],
	["loading", "loading", "joining-figure"],
	["straggler", "waiting for a straggler", "busy"],
	["detecting", "noticing", "bad"],
	["stopping", "ending workers", "stopping-figure"],
	["agreeing", "agreeing on a round", "leaving-figure"],
	["waiting-for-nodes", "waiting for nodes", "gone"],
	["paused", "paused", "paused-figure"],
	["idle", "idle", "spare"],
	["unknown", "not known", "line"],
] as const;

/** Where the node time of the run went; nothing if the agent does not report it. */
export function Ledger({ document: { ledger } }: SectionProps) {
	const shares = ledger === null ? [] : sharesOf(ledger);
	const all = shares.reduce((sum, { seconds }) => sum + seconds, 0);
	if (ledger === null || all === 0) return null;
	const lost = lostOf(ledger);
	const { unknown } = ledger;
	const rest = unknown > 0 ? `; ${percent(unknown / all)} is not known` : "";
	const note = `lost ${time(lost)} of ${time(all)} of node time, ${percent(lost / all)}${rest}`;
	return (
		<Section id="ledger" title="Where the time went" note={note}>
			<div class="ledger" role="img" aria-label={note}>
				{shares.map(({ name, colour, seconds }) => (
					<span key={name} style={{ flexGrow: seconds, background: colour }} />
				))}
			</div>
			<ul class="legend">
				{shares.map(({ name, words, colour, seconds }) => (
					<li key={name}>
						<Sign>
							<rect fill={colour} x="-5" y="-5" width="10" height="10" />
						</Sign>
						{`${words} ${time(seconds)}, ${percent(seconds / all)}`}
					</li>
				))}
			</ul>
		</Section>
	);
}

/** The categories that took time. */
function sharesOf(ledger: Spent) {
	return CATEGORIES.map(([name, words, colour]) => ({
		name,
		words,
		colour: `var(--${colour})`,
		seconds: ledger[name],
	})).filter(({ seconds }) => seconds > 0);
}

function time(seconds: number): string {
	return formatDuration(seconds * 1_000);
}

function percent(share: number): string {
	return `${(100 * share).toFixed(1)} %`;
}
