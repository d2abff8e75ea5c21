import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import type { AgentConfig } from "../config/agent-config.js";
import { externalAddresses } from "../config/host.js";
import { addressOf } from "../config/parse/endpoints.js";
import type { HostingFacts } from "./decide-hosting.js";

/** How long to wait for names to resolve, in milliseconds. */
const PATIENCE_MS = 5_000;

/** Collects what this machine knows about the places where its run meets. */
export async function readHostingFacts(
	config: Pick<AgentConfig, "endpoints" | "localAddr" | "meeting">,
	clock: Clock,
): Promise<HostingFacts> {
	const places = await Promise.all(
		config.endpoints.map(addressOf).map(async ({ host, port }) => ({
			host,
			port,
			addresses: (await within(clock, PATIENCE_MS, addressesOf(host))) ?? [],
		})),
	);
	return {
		places,
		isHost: config.meeting?.isHost,
		localAddr: config.localAddr,
		hostName: hostname(),
		external: externalAddresses(),
	};
}

async function addressesOf(host: string): Promise<readonly string[]> {
	const found = await lookup(host, { all: true }).catch(() => []);
	return found.map(({ address }) => address);
}
