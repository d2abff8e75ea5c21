import { type MetadataServer, reply, serve } from "./metadata-server.js";

/** Servers that are no metadata service, or a broken one, and what is said of them. */
export const BROKEN = {
	hangs: { open: () => serve(() => {}), words: "no answer within" },
	"sends its answer by drops": {
		open: () =>
			serve((_, response) => {
				response.writeHead(200).flushHeaders();
				response.write("FAL");
			}),
		words: "no answer within",
	},
	resets: {
		open: () => serve((_, response) => void response.socket?.resetAndDestroy()),
		words: "ECONNRESET|socket hang up",
	},
	redirects: {
		open: () =>
			serve((_, response) =>
				reply(response, 302, "", { location: "http://169.254.0.1/" }),
			),
		words: "status 302, a redirect, which is not followed",
	},
	"answers without end": {
		open: () =>
			serve((_, response) => {
				const part = "x".repeat(65_536);
				const more = () => {
					while (!response.destroyed && response.write(part));
				};
				response.on("drain", more);
				more();
			}),
		words: "an answer of more than 256 KiB",
	},
	"answers with something unexpected": {
		open: () => serve((_, response) => reply(response, 200, "<html>hello")),
		words:
			"answers with something|answers without|is not a metadata server|names no machine",
	},
} satisfies Readonly<
	Record<string, { open: () => Promise<MetadataServer>; words: string }>
>;
