import { didYouMean } from "../../base/nearest-name.js";
import { ok, type Parsed, problem, quote } from "../../config/parse/parsed.js";
import { FAULT_KINDS, type FaultKind, isFaultKind } from "./faults.js";
import type { Aim } from "./plan-chaos.js";

const AIM = /^(\d+):(\d+)(?::(.+))?$/;

/** `ROUND:RANK[:KIND]`, separated by commas. */
export function parseAims(text: string): Parsed<readonly Aim[]> {
	const aims: Aim[] = [];
	for (const one of text.split(",")) {
		const [, round, rank, kind = "kill-worker"] = AIM.exec(one) ?? [];
		if (round === undefined) {
			return problem(
				`${quote(one)} is not ROUND:RANK[:KIND], for example 2:0 or 3:5:freeze-worker`,
			);
		}
		if (!isFaultKind(kind)) return unknownKind(kind);
		aims.push({ round: Number(round), rank: Number(rank), kind });
	}
	return ok(aims);
}

/** Kinds of fault, separated by commas. */
export function parseKinds(text: string): Parsed<readonly FaultKind[]> {
	const kinds = text.split(",");
	const unknown = kinds.find((kind) => !isFaultKind(kind));
	return unknown === undefined
		? ok(kinds.filter(isFaultKind))
		: unknownKind(unknown);
}

function unknownKind(kind: string) {
	return problem(
		`${quote(kind)} is no kind of fault${didYouMean(kind, FAULT_KINDS)}; there are ${FAULT_KINDS.join(", ")}`,
	);
}
