import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { Gateway } from "../../../src/hosting/gateway.js";

const MIB = 1024 * 1024;

/** A server on a free port that gives this answer. */
async function serve(answer: (response: ServerResponse) => void) {
	const server = createServer((_, response) => answer(response));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	await new Promise<void>((resolve) =>
		server.listen(0, "127.0.0.1", () => resolve()),
	);
	const { port } = server.address() as AddressInfo;
	return new Gateway({ host: "127.0.0.1", port });
}

it("an answer without an end is a stranger's, and is not read on", async () => {
	let sent = 0;
	const gateway = await serve((response) => {
		const more = () => {
			while (!response.destroyed) {
				sent += MIB;
				if (!response.write("x".repeat(MIB))) break;
			}
		};
		response.on("drain", more);
		more();
	});
	expect(await gateway.answerer()).toEqual({ kind: "stranger" });
	expect(sent).toBeLessThan(64 * MIB);
});
