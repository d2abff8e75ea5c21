/**
 * `node --import elastic-run/register train.js`: writes an uncaught error to the launcher's error file. Does nothing
 * without a launcher.
 */
import { recordUncaughtErrors } from "./error-file.js";

recordUncaughtErrors();
