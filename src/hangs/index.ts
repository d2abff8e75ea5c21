export type { Verdict } from "./accusation.js";
export { blame, blameAlone } from "./blame.js";
export { quote } from "./collectives.js";
export type { WatchedNode } from "./evidence.js";
export { ExitWatch } from "./exit-watch.js";
export {
	HangInquiry,
	type HangInquiryOptions,
	type HungWorker,
} from "./hang-inquiry.js";
export { HangWatch, type HangWatchOptions, LostSteps } from "./hang-watch.js";
export { StuckWatch } from "./stuck-watch.js";
export { WhyWatch } from "./why-watch.js";
