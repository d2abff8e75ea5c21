/**
 * `node --import elastic-run/register train.js`: writes an uncaught error to the launcher's error file, and starts the
 * launcher's hook. Does nothing without a launcher.
 */
import { recordUncaughtErrors } from "./error-file.js";
import { startHook } from "./node-hook/start-hook.js";

recordUncaughtErrors();
startHook();
