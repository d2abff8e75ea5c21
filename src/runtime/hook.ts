/** `node --require <this file> train.js`: the launcher adds it to the scripts that it starts under Node. */
import { startHook } from "./node-hook/start-hook.js";
import { waitForPlace } from "./node-hook/wait-for-place.js";

waitForPlace();
startHook();
