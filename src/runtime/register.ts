/**
 * `node --import elastic-run/register train.js`: what ends the process by being
 * thrown is left in the launcher's error file. Does nothing outside of a launcher.
 */
import { recordUncaughtErrors } from "./error-file.js";

recordUncaughtErrors();
