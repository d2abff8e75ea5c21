import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { existsSync, readdirSync } from "node:fs";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import type { AgentConfig, StoreConfig } from "./agent-config.js";
import { addressOf, isLoopback, LOOPBACK } from "./parse/endpoints.js";
import type { Environment } from "./settings.js";

/** How long to wait for names to resolve, in milliseconds. */
const PATIENCE_MS = 3_000;
/** How long to wait for a network that comes up late, and how often to look, in milliseconds. */
const NETWORK_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 500;

export interface OwnAddress {
	readonly address: string;
	/** The interface's name. */
	readonly device: string;
	/** It belongs to a bridge on which there are only guests of this machine. */
	readonly isInside: boolean;
}

/** The addresses among which `chooseLocalAddress` chooses. */
interface Routes {
	/** Local addresses from which packets to an endpoint that is given as an address leave. */
	readonly toAddress: readonly string[];
	/** The same for endpoints that are given by name: one of this machine's names may lead anywhere in it. */
	readonly toName: readonly string[];
	/** The local address of the default route. */
	readonly byDefault: readonly string[];
	/** Addresses by which other machines may reach this one, the best first. */
	readonly external: readonly OwnAddress[];
}

/**
 * The address to give to other nodes: never a loopback one or one of a bridge inside this machine, where the user names
 * none.
 * @param isStoreLocal whether the store's address, as written, is a loopback address: then all nodes are on this machine
 */
export function chooseLocalAddress(
	isStoreLocal: boolean,
	{ toAddress, toName, byDefault, external }: Routes,
): string {
	if (isStoreLocal) return LOOPBACK;
	const isInside = (address: string) =>
		external.some((own) => own.isInside && own.address === address);
	const outer = (addresses: readonly string[]) =>
		addresses.filter((address) => !isInside(address));
	const usable = [
		...[...toAddress, ...outer(toName), ...byDefault],
		...outer(external.map(({ address }) => address)),
	];
	return usable.find((address) => !isUnreachable(address)) ?? LOOPBACK;
}

/** Loopback and link-local addresses mean nothing on other machines. A name in /etc/hosts may lead to one. */
function isUnreachable(address: string): boolean {
	return (
		isLoopback(address) || /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address)
	);
}

/**
 * Finds the address by which other nodes reach this one. Sends only name queries. While this machine has none, it waits
 * for its network for a while.
 * @param onWait called before each further look
 */
export async function detectLocalAddress(
	{ endpoints }: Pick<StoreConfig, "endpoints">,
	clock: Clock,
	onWait: () => void,
): Promise<string> {
	const places = endpoints.map(addressOf);
	const isStoreLocal = places.every(({ host }) => isLoopback(host));
	const until = clock.now() + NETWORK_WITHIN_MS;
	for (;;) {
		const routes = await readRoutes(isStoreLocal ? [] : places, clock);
		const address = chooseLocalAddress(isStoreLocal, routes);
		const isFound = isStoreLocal || !isLoopback(address);
		if (isFound || clock.now() >= until) return address;
		onWait();
		await pause(clock, LOOK_EVERY_MS);
	}
}

async function readRoutes(
	places: readonly Destination[],
	clock: Clock,
): Promise<Routes> {
	const routes = async (some: readonly Destination[]) => {
		const found = Promise.all(some.map(routesTo));
		return ((await within(clock, PATIENCE_MS, found)) ?? []).flat();
	};
	const isAddress = ({ host }: Destination) => isIP(host) > 0;
	return {
		toAddress: await routes(places.filter(isAddress)),
		toName: await routes(places.filter((place) => !isAddress(place))),
		byDefault: await routes(ANYWHERE),
		external: ownAddresses(),
	};
}

interface Destination {
	readonly host: string;
	readonly port: number;
}

/** Addresses of documentation: only the default route leads to them. */
const ANYWHERE: readonly Destination[] = [
	{ host: "192.0.2.1", port: 9 },
	{ host: "2001:db8::1", port: 9 },
];

async function routesTo({
	host,
	port,
}: Destination): Promise<readonly string[]> {
	const found = await lookup(host, { all: true }).catch(() => []);
	const routes = await Promise.all(
		found.map(({ address }) => routeTo(address, port).catch(() => [])),
	);
	return routes.flat();
}

/** The system chooses a route, and with it a local address, for a UDP socket with a destination. No packet is sent. */
async function routeTo(address: string, port: number): Promise<string[]> {
	const socket = createSocket(isIP(address) === 6 ? "udp6" : "udp4");
	try {
		await new Promise<void>((resolve, reject) => {
			socket.once("error", reject).once("connect", resolve);
			socket.connect(port, address);
		});
		return [socket.address().address];
	} finally {
		socket.close();
	}
}

/** IPv4 before IPv6, and what is inside this machine last. Link-local IPv6 addresses (scope id above 0) are left out. */
function ownAddresses(): readonly OwnAddress[] {
	const all = Object.entries(networkInterfaces())
		.flatMap(([device, entries = []]) =>
			entries.map((entry) => ({ ...entry, device })),
		)
		.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
		.map(({ address, device }) => ({
			...{ address, device },
			isInside: isInsideBridge(device),
		}));
	const last = ({ address, isInside }: OwnAddress) =>
		Number(isInside) * 2 + Number(isIP(address) === 6);
	return all.sort((one, other) => last(one) - last(other));
}

/** Addresses by which other machines may reach this one, the best first. */
export function externalAddresses(): string[] {
	return ownAddresses().map(({ address }) => address);
}

/** The names that Docker, Podman, LXC, libvirt and Kubernetes' networks give to their bridges. */
const BRIDGE_NAMES = /^(docker|br-[0-9a-f]{12}$|podman|lxcbr|lxdbr|virbr|cni)/;

/** The names of containers' and virtual machines' ends on a bridge. */
const GUEST_NAMES = /^(veth|tap|vnet|vif|fwpr)/;

/** Whether a device is a bridge on which there are only guests of this machine. */
function isInsideBridge(device: string): boolean {
	if (BRIDGE_NAMES.test(device)) return true;
	const members = `/sys/class/net/${device}/brif`;
	return (
		existsSync(members) &&
		readdirSync(members).every((member) => GUEST_NAMES.test(member))
	);
}

/**
 * Gloo binds the address of the machine's own name. Where that leads to no address that other machines know, as on
 * Debian, it is told the interface instead.
 */
export async function glooInterface(
	{ maxNodes }: Pick<AgentConfig, "maxNodes">,
	localAddr: string,
	hostName: string,
	clock: Clock,
): Promise<Environment> {
	const own = ownAddresses();
	const device = own.find(({ address }) => address === localAddr)?.device;
	if (maxNodes === 1 || device === undefined) return {};
	const found = lookup(hostName, { all: true }).catch(() => []);
	const named = (await within(clock, PATIENCE_MS, found)) ?? [];
	const isKnown = named.some(({ address }) =>
		own.some((one) => one.address === address && !one.isInside),
	);
	return isKnown ? {} : { GLOO_SOCKET_IFNAME: device };
}
