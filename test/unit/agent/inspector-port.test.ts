import { expect, test } from "vitest";
import { withInspectorPort } from "../../../src/agent/workers/inspector-port.js";

test.each([
	["--inspect", "--inspect=9231"],
	["--inspect=9300", "--inspect=9302"],
	["--inspect-brk=9300", "--inspect-brk=9302"],
	["--inspect=0.0.0.0:9300", "--inspect=0.0.0.0:9302"],
	["--inspect=[::1]:9300", "--inspect=[::1]:9302"],
	["--inspect=localhost", "--inspect=localhost:9231"],
	["--inspect=0", "--inspect=0"],
	["--inspect=127.0.0.1:0", "--inspect=127.0.0.1:0"],
	["--inspect --inspect-port=9300", "--inspect --inspect-port=9302"],
	["--title=a --inspect-wait=9300 -r x", "--title=a --inspect-wait=9302 -r x"],
	["--inspect-publish-uid=http", "--inspect-publish-uid=http"],
	["--max-old-space-size=100", "--max-old-space-size=100"],
	["", ""],
])("NODE_OPTIONS %o of local rank 2 is %o", (options, expected) => {
	expect(withInspectorPort(options, 2)).toBe(expected);
	expect(withInspectorPort(options, 0)).toBe(options);
});
