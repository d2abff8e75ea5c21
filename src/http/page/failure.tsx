import { lastFailureOf } from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { Section } from "./parts.js";
import { ago, plain, withPid } from "./words.js";

/** The last failure: who, when, why, and the end of what the worker wrote. */
export function Failure({ document, model }: SectionProps) {
	const root = lastFailureOf(document.run ?? undefined);
	if (root === undefined) return null;
	const { rank, nodeId, round, pid, timestamp, description } = root;
	const { hint, message, evidence = [] } = root;
	const lines = (document.failedLines ?? []).map(plain).join("\n");
	const who = withPid(`rank ${rank} on ${nodeId}`, pid);
	const note = `${who}, round ${round}, ${ago(timestamp, model.now)} ago`;
	const more = [message, hint, ...evidence].flatMap((words) => words ?? []);
	return (
		<Section id="failure" title="The last failure" note={note}>
			<p class="notice bad">
				<strong>{plain(description)}</strong>
				{more.map((words) => (
					<span key={words}>{plain(words)}</span>
				))}
			</p>
			{lines !== "" && <pre>{lines}</pre>}
			{document.failedLines === undefined && (
				<small>{`Its log is on ${nodeId}.`}</small>
			)}
		</Section>
	);
}
