import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import type { Clock } from "../../base/clock.js";
import { within } from "../../base/within.js";
import type { StoreConfig } from "../../config/agent-config.js";
import { externalAddresses } from "../../config/host.js";
import { addressOf, isLoopback } from "../../config/parse/endpoints.js";
import { chooseLocalAddress } from "../../config/resolve-identity.js";

/** How long to wait for names to resolve, in milliseconds. */
const PATIENCE_MS = 3_000;

/** Finds the address by which other nodes reach this one: the local address of the route to the store. Sends only name queries. */
export async function detectLocalAddress(
	{ endpoints }: Pick<StoreConfig, "endpoints">,
	clock: Clock,
): Promise<string> {
	const addresses = endpoints.map(addressOf);
	const isStoreLocal = addresses.every(({ host }) => isLoopback(host));
	const toStore = isStoreLocal
		? undefined
		: await within(clock, PATIENCE_MS, firstRoute(addresses));
	const external = externalAddresses();
	return chooseLocalAddress(isStoreLocal, { toStore, external });
}

async function firstRoute(
	addresses: readonly { readonly host: string; readonly port: number }[],
): Promise<string | undefined> {
	for (const { host, port } of addresses) {
		const route = await routeTo(host, port).catch(() => undefined);
		if (route !== undefined) return route;
	}
	return undefined;
}

/** The system chooses a route, and with it a local address, for a UDP socket with a destination. No packet is sent. */
async function routeTo(host: string, port: number): Promise<string> {
	const { address, family } = await lookup(host);
	const socket = createSocket(family === 6 ? "udp6" : "udp4");
	try {
		await new Promise<void>((resolve, reject) => {
			socket.once("error", reject).once("connect", resolve);
			socket.connect(port, address);
		});
		return socket.address().address;
	} finally {
		socket.close();
	}
}
