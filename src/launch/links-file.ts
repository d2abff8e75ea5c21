import type { AgentObserver } from "../agent/index.js";
import { type Clock, onBeat } from "../base/clock.js";
import type { NodeLinks } from "../model/index.js";
import { writeLinksFile } from "../node-files/index.js";

const LOOK_EVERY_MS = 1_000;

/** An observer that also tells commands on this machine what this node knows by its links. */
export function tellingLinks(
	observer: AgentObserver | undefined,
	links: () => NodeLinks | null,
	clock: Clock,
): AgentObserver {
	return {
		joined: (run, resources) => {
			observer?.joined(run, resources);
			const { directory } = resources.channels;
			const cancel = keepFile(directory, links, clock);
			run.place.cleanups.add("telling of links", cancel);
		},
		noting: (logs) => observer?.noting(logs) ?? logs,
		follow: (state) => observer?.follow(state),
		hung: (kind) => observer?.hung(kind),
	};
}

function keepFile(
	directory: string,
	links: () => NodeLinks | null,
	clock: Clock,
): () => void {
	let told = "";
	let cancel = () => {};
	const look = () => {
		const now = links();
		if (now === null) return;
		const { riding } = now;
		const text = JSON.stringify([now.heard, now.suspected, riding?.heard]);
		if (text !== told) {
			told = text;
			try {
				writeLinksFile(directory, now);
			} catch {
				// Nobody can be told on a full disk; the page still tells.
			}
		}
		cancel = clock.wakeAt(
			onBeat(clock.now() + LOOK_EVERY_MS, LOOK_EVERY_MS),
			look,
		);
	};
	look();
	return () => cancel();
}
