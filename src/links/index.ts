export { Links, type LinksNow, type LinksOptions } from "./links.js";
export type { Suspicion } from "./peers.js";
