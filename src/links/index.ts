export { Links, type LinksNow, type LinksOptions } from "./links.js";
