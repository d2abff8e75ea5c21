import { createServer, type Server, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

interface Request {
	readonly method: string;
	readonly path: string;
	readonly query: URLSearchParams;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly body: string;
}

export interface MetadataServer {
	readonly host: string;
	readonly url: string;
	readonly requests: readonly Request[];
}

/** Serves until the test ends. */
export async function serve(
	answer: (request: Request, response: ServerResponse) => void,
): Promise<MetadataServer> {
	const requests: Request[] = [];
	const server = createServer((incoming, response) => {
		let body = "";
		incoming.on("data", (part) => {
			body += part;
		});
		incoming.on("end", () => {
			const { pathname, searchParams } = new URL(
				incoming.url ?? "/",
				"http://here",
			);
			const { method = "", headers } = incoming;
			const request = {
				...{ method, headers, body },
				...{ path: pathname, query: searchParams },
			};
			requests.push(request);
			answer(request, response);
		});
	});
	const host = `127.0.0.1:${await listening(server)}`;
	onTestFinished(() => {
		server.close();
		server.closeAllConnections();
	});
	return { host, url: `http://${host}`, requests };
}

function listening(server: Server): Promise<number> {
	return new Promise((resolve, reject) => {
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			if (typeof address === "object" && address) resolve(address.port);
			else reject(new Error("no port"));
		});
	});
}

export function reply(
	response: ServerResponse,
	status: number,
	body = "",
	headers: Readonly<Record<string, string>> = {},
): void {
	response.writeHead(status, headers).end(body);
}
