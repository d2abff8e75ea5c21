import { expect, it } from "vitest";
import { npmParents } from "../../bin/npm-parents.js";

const SHELL = "sh\0-c\0elastic-run train.js\0";
const NPM_TITLE = "npm exec elastic-run train.js\0\0\0";
const NPX_FILE = "node\0/usr/bin/npx\0elastic-run\0";
const NPM_FILE = "node\0/usr/lib/node_modules/npm/bin/npm-cli.js\0run\0";
const BASH = "-bash\0";
const SCRIPT = "bash\0./start.sh\0";
const INIT = "/sbin/init\0";

it.each<[string, string[], number]>([
	["npx through a shell", [SHELL, NPM_TITLE, BASH, INIT], 2],
	["npx without one", [NPX_FILE, BASH], 1],
	[
		"npm that runs npx",
		[SHELL, NPM_TITLE, "dash\0-ec\0x\0", NPM_FILE, INIT],
		4,
	],
	["npm under a shell's -c", [SHELL, NPM_TITLE, "bash\0-c\0npm start\0"], 2],
	["a terminal's shell", [BASH, INIT], 0],
	["a shell's -c alone", [SHELL, BASH], 0],
	["a script that npm started", [SCRIPT, SHELL, NPM_TITLE], 0],
	["left in the background by npm's script", [INIT], 0],
	["a trainer called npm.py", ["python3\0npm.py\0"], 0],
])("who started the launcher: %s", (_, commands, count) => {
	const ancestors = commands.map((command, index) => ({
		...{ pid: 100 + index, startTime: index, command },
	}));
	expect(npmParents(ancestors)).toEqual(ancestors.slice(0, count));
});
