export type { NoticeSources } from "./open-notice-sources.js";
export {
	type Hold,
	holdWith,
	inTime,
	isTermDue,
	isWorthARound,
	killAtWith,
	leavingFor,
	noticeInWords,
	type PendingNotice,
	type PendingNotices,
	TOO_LATE,
	tooLateAt,
	withNotice,
	withoutOrigin,
} from "./pending-notices.js";
export { signalNotice } from "./sources/signal.js";
