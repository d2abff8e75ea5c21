import { formatCount } from "../../base/units.js";
import type {
	NodePhase,
	Span,
	Timeline,
	TimelineIncident,
} from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { fillOf, PhaseSign, Section, Sign } from "./parts.js";
import {
	namedRounds,
	numberWidth,
	type Scale,
	scaleOf,
	TOP,
	ticksOf,
	type Zoom,
} from "./scale.js";
import { clockTime } from "./words.js";

/** In the order in which a node passes through them. */
const PHASES: readonly (readonly [phase: NodePhase, words: string])[] = [
	["joining", "waits or starts"],
	["running", "runs"],
	["paused", "paused"],
	["stopping", "ends its workers"],
	["leaving", "leaves"],
	["finished", "finished"],
	["spare", "spare"],
	["gone", "gone"],
];

type Kind = TimelineIncident["kind"];

/** The worst last, so that it lies above the others. */
const KINDS: readonly Kind[] = ["scale-up", "scale-down", "failure"];
const WORDS: Readonly<Record<Kind, string>> = {
	failure: "failure",
	"scale-down": "a node left",
	"scale-up": "a node came",
};
/** Around (0, 0). */
const SHAPES: Readonly<Record<Kind, string>> = {
	failure: "M0 -7 L7 6 L-7 6 Z",
	"scale-down": "M0 -7 L7 0 L0 7 L-7 0 Z",
	"scale-up": "M-2 -6 H2 V-2 H6 V2 H2 V6 H-2 V2 H-6 V-2 H-2 Z",
};

const ZOOMS: readonly (readonly [zoom: Zoom, words: string])[] = [
	["5min", "5 min"],
	["1h", "1 h"],
	["all", "all"],
];

/** Below the rows: the time of day. In pixels. */
const BOTTOM = 22;
const TICK_EVERY = 92;
/** A phase must be visible however short it was. */
const LEAST_WIDTH = 1.5;
/** A bar this wide shows its round's number, in rows this tall. */
const NUMBERED_WIDTH = 64;
const NUMBERED_HEIGHT = 22;

/** The nodes over time, with zoom, legend and notes about what is missing. */
export function TimeLine({ document, model, actions }: SectionProps) {
	const { timeline } = document;
	if (timeline === null) return null;
	const zooms = ZOOMS.map(([zoom, words]) => (
		<button
			key={zoom}
			type="button"
			aria-pressed={zoom === model.zoom}
			onClick={() => actions.zoom(zoom)}
		>
			{words}
		</button>
	));
	const { zoom, now, width } = model;
	const scale = scaleOf(timeline, zoom, now, width);
	return (
		<Section
			id="timeline"
			title="Time line"
			note={<div class="zoom">{zooms}</div>}
		>
			<div class="frame">
				<svg
					class="picture"
					width={width}
					height={scale.bottom + BOTTOM}
					role="img"
					aria-label={summaryOf(timeline)}
				>
					<Ticks scale={scale} />
					<Rows timeline={timeline} scale={scale} />
					<RoundStarts timeline={timeline} scale={scale} />
					<Marks timeline={timeline} scale={scale} />
				</svg>
			</div>
			<Legend timeline={timeline} />
			<small>{omissions(timeline, now)}</small>
		</Section>
	);
}

function summaryOf({ nodes, rounds, incidents }: Timeline): string {
	const ends = formatCount(incidents.length, "end");
	return `Time line: ${formatCount(nodes.length, "node")}, ${formatCount(rounds.length, "round")}, ${ends} of rounds`;
}

interface PictureProps {
	readonly timeline: Timeline;
	readonly scale: Scale;
}

function Ticks({ scale }: Pick<PictureProps, "scale">) {
	const { left, right, bottom, xOf } = scale;
	// A label at the edge must not be cut off.
	const anchorAt = (x: number) =>
		x > right - 18 ? "end" : x < left + 20 ? "start" : "middle";
	const ticks = ticksOf(scale, (right - left) / TICK_EVERY);
	return (
		<>
			{ticks.map(({ at, label }) => (
				<g key={at} class="tick" transform={`translate(${xOf(at)} 0)`}>
					<line y1={TOP} y2={bottom} />
					<text y={bottom + 15} text-anchor={anchorAt(xOf(at))}>
						{label}
					</text>
				</g>
			))}
			<path class="edge" d={`M${left} ${bottom + 0.5} H${right}`} />
		</>
	);
}

function Rows({ timeline, scale }: PictureProps) {
	const { names, left, pitch } = scale;
	const size = pitch < 14 ? "name small" : "name";
	return timeline.nodes.map(({ nodeId, spans }, index) => (
		<g
			key={nodeId}
			class="row"
			data-node={nodeId}
			transform={`translate(0 ${TOP + index * pitch})`}
		>
			<text class={size} x={left - 8} y={pitch / 2}>
				{names[index]}
			</text>
			{barsOf(spans, scale)}
		</g>
	));
}

/** Running phases are drawn first, so that a short interruption lies above. */
function barsOf(spans: readonly Span[], { from, to, pitch, xOf }: Scale) {
	const height = pitch * 0.6;
	const shown = spans.filter(
		(span) => span.from <= to && (span.to ?? to) >= from,
	);
	const running = shown.filter(({ phase }) => phase === "running");
	const others = shown.filter(({ phase }) => phase !== "running");
	return [...running, ...others].map((span) => {
		const x = xOf(span.from);
		const width = Math.max(LEAST_WIDTH, xOf(span.to ?? to) - x);
		const hasRoom = width >= NUMBERED_WIDTH && pitch >= NUMBERED_HEIGHT;
		return (
			<g key={`${span.from} ${span.phase}`}>
				<rect
					class={`bar ${span.phase}`}
					fill={fillOf(span.phase)}
					x={x}
					y={(pitch - height) / 2}
					width={width}
					height={height}
					rx={Math.min(2, width / 2)}
				/>
				{hasRoom && span.phase === "running" && (
					<text class="inner" x={x + 7} y={pitch / 2}>
						{`round ${span.round}`}
					</text>
				)}
			</g>
		);
	});
}

function RoundStarts({ timeline, scale }: PictureProps) {
	const rounds = timeline.rounds.filter((one) => scale.isShown(one.liftedAt));
	const named = namedRounds(rounds, scale);
	return rounds.map(({ round, liftedAt }) => {
		const isNamed = named.has(round);
		const width = numberWidth(round);
		return (
			<g
				key={round}
				class={isNamed ? "round" : "round unnamed"}
				transform={`translate(${scale.xOf(liftedAt)} 0)`}
			>
				<line y1={TOP - 6} y2={scale.bottom} />
				{isNamed && (
					<rect x={-width / 2} y="3" width={width} height="17" rx="4" />
				)}
				{isNamed ? <text y="12">{round}</text> : <circle cy={TOP - 8} r="2" />}
			</g>
		);
	});
}

/** On the row of the first of its nodes that has one, else above all rows. */
function Marks({ timeline, scale }: PictureProps) {
	const { pitch, xOf, isShown } = scale;
	const rows = new Map(
		timeline.nodes.map(({ nodeId }, index) => [nodeId, index]),
	);
	const shown = timeline.incidents
		.filter(({ at }) => isShown(at))
		.sort((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind));
	return shown.map(({ kind, at, round, reason, nodes }) => {
		const name = nodes.find((nodeId) => rows.has(nodeId)) ?? "";
		const y = TOP + ((rows.get(name) ?? -1) + 0.5) * pitch;
		return (
			<g
				key={`${at} ${round} ${reason}`}
				class="mark"
				transform={`translate(${xOf(at)} ${y})`}
			>
				<Shape kind={kind} />
			</g>
		);
	});
}

function Shape({ kind }: { readonly kind: Kind }) {
	return <path class="shape" fill={`var(--${kind})`} d={SHAPES[kind]} />;
}

/** What ended a round, as its mark and in words. */
export function IncidentSign({ kind }: { readonly kind: Kind }) {
	return (
		<>
			<Sign>
				<Shape kind={kind} />
			</Sign>
			{WORDS[kind]}
		</>
	);
}

/** Only for what is shown: a run whose workers never pause needs no sign for it. */
function Legend({ timeline }: { readonly timeline: Timeline }) {
	const spans = timeline.nodes.flatMap((node) => node.spans);
	const phases = new Set(spans.map(({ phase }) => phase));
	const kinds = new Set(timeline.incidents.map(({ kind }) => kind));
	const shown = KINDS.filter((kind) => kinds.has(kind)).reverse();
	return (
		<ul class="legend">
			{PHASES.filter(([phase]) => phases.has(phase)).map(([phase, words]) => (
				<li key={phase}>
					<PhaseSign phase={phase} />
					{words}
				</li>
			))}
			<li class="round">
				<Sign>
					<line y1="-7" y2="7" />
				</Sign>
				a round begins
			</li>
			{shown.map((kind) => (
				<li key={kind}>
					<IncidentSign kind={kind} />
				</li>
			))}
		</ul>
	);
}

/** The time zone of the times, and what is missing. */
function omissions({ dropped }: Timeline, now: number): string {
	const { nodes, rounds, spansBefore } = dropped;
	const left: string[] = [];
	if (nodes > 0) left.push(`${nodes} nodes that went first`);
	if (rounds > 0) left.push(`${rounds} rounds that came first`);
	if (spansBefore !== null) {
		left.push(`some of what was before ${clockTime(spansBefore, now)}`);
	}
	const words = left.length === 0 ? "" : ` Left out: ${left.join(", ")}.`;
	return `Times are of this browser's time zone.${words}`;
}
