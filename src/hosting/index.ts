export { hostIfAsked } from "./host-if-asked.js";
