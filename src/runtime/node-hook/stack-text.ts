import { fileURLToPath } from "node:url";

/** A frame as the inspector tells it: lines and columns from 0. */
export interface Frame {
	readonly functionName: string;
	readonly url: string;
	readonly lineNumber: number;
	readonly columnNumber: number;
}

/** What the main thread does. */
export type Answer =
	| { readonly kind: "running"; readonly frames: readonly Frame[] }
	/** `resources`: what keeps the event loop alive; undefined if it could not be learned. */
	| {
			readonly kind: "waiting";
			readonly resources: readonly string[] | undefined;
	  }
	| { readonly kind: "silent" };

/** One section of the stack file. */
export function answerInWords(question: number, answer: Answer): string {
	return [`--- ${question}`, ...lines(answer), ""].join("\n");
}

function lines(answer: Answer): readonly string[] {
	switch (answer.kind) {
		case "running":
			return answer.frames.map(frameInWords);
		case "waiting":
			return [
				"the event loop waits: no JavaScript runs",
				...(answer.resources === undefined
					? []
					: [`active resources: ${counted(answer.resources)}`]),
			];
		case "silent":
			return ["the main thread does not answer: it is in native code"];
		default:
			return answer satisfies never;
	}
}

function frameInWords(frame: Frame): string {
	const { functionName, url, lineNumber, columnNumber } = frame;
	const name = functionName === "" ? "<anonymous>" : functionName;
	return `  at ${name} (${pathOf(url)}:${lineNumber + 1}:${columnNumber + 1})`;
}

function pathOf(url: string): string {
	try {
		return url.startsWith("file:") ? fileURLToPath(url) : url;
	} catch {
		return url;
	}
}

function counted(resources: readonly string[]): string {
	const counts = new Map<string, number>();
	for (const name of resources) counts.set(name, (counts.get(name) ?? 0) + 1);
	const words = [...counts].map(([name, count]) =>
		count === 1 ? name : `${count} ${name}`,
	);
	return words.join(", ") || "none";
}
