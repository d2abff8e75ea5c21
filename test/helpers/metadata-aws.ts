import { type MetadataServer, reply, serve } from "./metadata-server.js";

const TTL = "x-aws-ec2-metadata-token-ttl-seconds";
const META = "/latest/meta-data/";

/** EC2's metadata service, version 2: without a token of its own it says nothing. */
export async function ec2(): Promise<
	MetadataServer & {
		/** What lies at which path below `meta-data`. */
		readonly values: Map<string, string>;
		/** No token is good any more. */
		revoke(): void;
	}
> {
	const values = new Map([["instance-life-cycle", "spot"]]);
	const tokens = new Set<string>();
	let made = 0;
	const server = await serve(({ method, path, headers }, response) => {
		if (method === "PUT" && path === "/latest/api/token") {
			const life = headers[TTL];
			if (typeof life !== "string") return reply(response, 400);
			made += 1;
			tokens.add(`token-${made}`);
			return reply(response, 200, `token-${made}`, { [TTL]: life });
		}
		const token = String(headers["x-aws-ec2-metadata-token"]);
		if (!tokens.has(token)) return reply(response, 401);
		const value = path.startsWith(META)
			? values.get(path.slice(META.length))
			: undefined;
		return value === undefined
			? reply(response, 404)
			: reply(response, 200, value);
	});
	return { ...server, values, revoke: () => tokens.clear() };
}
