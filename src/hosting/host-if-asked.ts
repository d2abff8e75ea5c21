import type { LauncherIo } from "../agent/workers/node-resources.js";
import type { AgentConfig } from "../config/agent-config.js";

/** Hosts the store if agents host it and this one must. Only then it loads what that needs. */
export async function hostIfAsked(
	config: AgentConfig,
	place: LauncherIo,
	isAborted: () => boolean,
	random: () => number,
): Promise<void> {
	if (config.meeting === undefined) return;
	const { openMeeting } = await import("./open-meeting.js");
	const hosted = await openMeeting({ ...place, config, isAborted, random });
	if (hosted) place.cleanups.add("leaving the etcd", () => hosted.close());
}
