import type { ServerResponse } from "node:http";
import { type MetadataServer, reply, serve } from "./metadata-server.js";

const BASE = "/computeMetadata/v1/";

/** Google's metadata server: it keeps a question until the value is another one. */
export async function gce(): Promise<
	MetadataServer & { set(path: string, value: string): void }
> {
	const values = new Map([
		["instance/preempted", "FALSE"],
		["instance/maintenance-event", "NONE"],
	]);
	const waiting: { path: string; response: ServerResponse }[] = [];
	const etag = (value: string) => `tag-${value}`;
	const say = (response: ServerResponse, value: string) =>
		reply(response, 200, value, {
			"metadata-flavor": "Google",
			etag: etag(value),
		});
	const server = await serve(({ path, query, headers }, response) => {
		if (headers["metadata-flavor"] !== "Google") return reply(response, 403);
		const name = path.slice(BASE.length);
		const value = values.get(name);
		if (value === undefined) return reply(response, 404);
		const isKept =
			query.get("wait_for_change") === "true" &&
			query.get("last_etag") === etag(value);
		if (isKept) waiting.push({ path: name, response });
		else say(response, value);
	});
	return {
		...server,
		set(path, value) {
			values.set(path, value);
			for (const one of waiting) {
				if (one.path === path) say(one.response, value);
			}
		},
	};
}
