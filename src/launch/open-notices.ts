import type { AgentSession } from "../agent/agent-session.js";
import { DrainWatch } from "../agent/presence/drain-watch.js";
import type { LauncherIo } from "../agent/workers/node-resources.js";
import type { AgentConfig } from "../config/agent-config.js";
import { RunKeys } from "../rendezvous/records/keys.js";
import type { Store } from "../rendezvous/store/store.js";
import { noticeListener } from "./notice-listener.js";

export interface OpenNoticesOptions {
	readonly config: AgentConfig;
	/** Names this process. */
	readonly incarnation: string;
	readonly store: Store;
	readonly place: LauncherIo;
}

/** The one place where sources of notices are opened; they are closed at the launcher's end. */
export function openNotices(
	session: AgentSession,
	{ config, incarnation, store, place }: OpenNoticesOptions,
): void {
	const { clock, cleanups, log } = place;
	const listener = noticeListener(session.notice, log);
	const { nodeId, runId } = config;
	const keys = new RunKeys(runId);
	const about = { clock, store, keys, nodeId, incarnation, listener };
	const drains = new DrainWatch(about);
	cleanups.add("closing the watch on drains", () => drains.close());
}
