import type { NoticeInput } from "../agent/machine/inputs.js";
import type { Logger } from "../base/logger.js";
import type { NoticeListener } from "../notices/notice.js";

/** Passes what the sources of notices say on to the agent; a recommendation is only logged. */
export function noticeListener(
	dispatch: (input: NoticeInput) => void,
	log: Pick<Logger, "info">,
): NoticeListener {
	return {
		noticed: (notice) => dispatch({ kind: "noticed", notice }),
		withdrawn: (source, reason) =>
			dispatch({ kind: "notice-withdrawn", source, reason }),
		advised: ({ source, reason }) =>
			log.info(`advice from ${source}, which nothing follows: ${reason}`),
	};
}
