import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
const MACHINE = "gpu_3";

/**
 * What announces a machine's end in the place of a platform.
 *
 * @typedef {object} StandIn
 * @property {Readonly<Record<string, string>>} environment of the launcher
 * @property {readonly string[]} flags
 * @property {() => void} announce
 * @property {() => void} withdraw
 * @property {() => void} close
 */

/** @type {Readonly<Record<string, (directory: string) => Promise<StandIn>>>} */
export const STAND_INS = { aws, gcp, azure, file };

async function aws() {
	let notice;
	const server = await serve(({ method, url }, response) => {
		if (method === "PUT") {
			const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": "3600" };
			return response.writeHead(200, ttl).end("token");
		}
		if (url.endsWith("/instance-life-cycle")) return response.end("spot");
		if (url.endsWith("/spot/instance-action") && notice !== undefined) {
			return response.end(notice);
		}
		return response.writeHead(404).end();
	});
	return {
		environment: { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url },
		flags: ["--notices", "aws"],
		announce() {
			const time = new Date(Date.now() + HOUR_MS).toISOString();
			notice = JSON.stringify({ action: "terminate", time });
		},
		withdraw() {
			notice = undefined;
		},
		close: server.close,
	};
}

/** It keeps a question until the value is another one. */
async function gcp() {
	let value = "FALSE";
	let kept = [];
	const say = (response, text) =>
		response
			.writeHead(200, { "metadata-flavor": "Google", etag: `tag-${text}` })
			.end(text);
	const server = await serve(({ url }, response) => {
		if (url.includes("upcoming")) return response.writeHead(404).end();
		if (url.includes("maintenance-event")) {
			return url.includes("wait_for_change")
				? undefined
				: say(response, "NONE");
		}
		if (url.includes(`last_etag=tag-${value}`)) return kept.push(response);
		return say(response, value);
	});
	const set = (now) => {
		value = now;
		for (const response of kept) say(response, value);
		kept = [];
	};
	return {
		environment: { GCE_METADATA_HOST: server.url.replace("http://", "") },
		flags: ["--notices", "gcp"],
		announce: () => set("TRUE"),
		withdraw: () => set("FALSE"),
		close: server.close,
	};
}

async function azure() {
	let incarnation = 1;
	let events = [];
	const server = await serve(({ url }, response) =>
		response.end(
			JSON.stringify(
				url.includes("/metadata/instance")
					? { compute: { name: MACHINE } }
					: { DocumentIncarnation: incarnation, Events: events },
			),
		),
	);
	const set = (...now) => {
		incarnation += 1;
		events = now;
	};
	return {
		environment: { ELASTIC_RUN_AZURE_METADATA_URL: server.url },
		flags: ["--notices", "azure"],
		announce: () =>
			set({
				...{ EventId: `id-${incarnation}`, EventType: "Terminate" },
				...{ ResourceType: "VirtualMachine", Resources: [MACHINE] },
				...{ EventStatus: "Scheduled", EventSource: "Platform" },
				NotBefore: new Date(Date.now() + HOUR_MS).toUTCString(),
				...{ Description: "", DurationInSeconds: -1 },
			}),
		withdraw: () => set(),
		close: server.close,
	};
}

async function file(directory) {
	const path = join(directory, "gone");
	return {
		environment: {},
		flags: ["--notices", `file:${path}`],
		announce: () => writeFileSync(path, "3600"),
		withdraw: () => rmSync(path),
		close: () => rmSync(path, { force: true }),
	};
}

async function serve(answer) {
	const server = createServer(answer).listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = /** @type {import("node:net").AddressInfo} */ (
		server.address()
	);
	return {
		url: `http://127.0.0.1:${port}`,
		close() {
			server.close();
			server.closeAllConnections();
		},
	};
}
