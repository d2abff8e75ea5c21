export { variables } from "./environment.js";
export { sourceIfLaunched } from "./open-session.js";
