export type { LinksNow } from "./exchange.js";
export { Links, type LinksOptions } from "./links.js";
