import { EXIT_CODES } from "../../src/base/errors.js";
import { packageVersion } from "../../src/base/package-files.js";
import { print } from "../console.js";

export const command = {
	run(): number {
		print(`${packageVersion()}\n`);
		return EXIT_CODES.succeeded;
	},
};
