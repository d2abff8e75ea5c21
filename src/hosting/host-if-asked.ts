import type { Cleanups } from "../base/cleanups.js";
import type { MeetingOptions } from "./open-meeting.js";

/** Hosts the store if agents host it and this one must. Only then it loads what that needs. */
export async function hostIfAsked(
	options: MeetingOptions & { readonly cleanups: Cleanups },
): Promise<void> {
	if (options.config.meeting === undefined) return;
	const { openMeeting } = await import("./open-meeting.js");
	const hosted = await openMeeting(options);
	if (hosted) options.cleanups.add("leaving the etcd", () => hosted.close());
}
