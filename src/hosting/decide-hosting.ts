import { lookup } from "node:dns/promises";
import { isIPv4 } from "node:net";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import {
	type AgentConfig,
	addressOf,
	externalAddresses,
	isLoopback,
} from "../config/index.js";

/** One of the addresses where agents meet. */
export interface MeetingPlace {
	/** As given, without brackets. */
	readonly host: string;
	readonly port: number;
	/** The addresses of the name on this machine; empty if it has none. */
	readonly addresses: readonly string[];
}

export interface HostingFacts {
	readonly places: readonly MeetingPlace[];
	/** The flag, if given; undefined: names and addresses decide. */
	readonly isHost: boolean | undefined;
	readonly localAddr: string | undefined;
	readonly hostName: string;
	/** The addresses by which other machines reach this one. */
	readonly external: readonly string[];
}

/** What an agent does about the etcd where its run meets. */
export type Hosting =
	/** It starts the member for this endpoint, which listens on these addresses. */
	| {
			readonly kind: "host";
			readonly member: number;
			readonly listen: readonly string[];
	  }
	/** Another agent starts it. */
	| { readonly kind: "join" }
	| { readonly kind: "refuse"; readonly words: string };

/**
 * Decides as torchrun does: an agent hosts if an endpoint names its machine. A loopback `--local-addr` other than
 * 127.0.0.1 stands for a machine, so that one machine can simulate several.
 */
export function decideHosting(facts: HostingFacts): Hosting {
	const { places, isHost } = facts;
	if (isHost === false) return { kind: "join" };
	const own = places.flatMap((place, index) =>
		isOwn(place, facts) ? [index] : [],
	);
	const [member] = own;
	if (member !== undefined && own.length === 1) {
		const place = places[member];
		return { kind: "host", member, listen: listenOn(place, facts) };
	}
	const names = places.map(({ host }) => host).join(", ");
	if (own.length > 1) {
		return refuse(
			`several of ${names} are this machine; one agent hosts one of them: give one endpoint, or this one's address as --local-addr`,
		);
	}
	if (isHost === undefined) return { kind: "join" };
	if (places.length === 1) {
		return { kind: "host", member: 0, listen: everyAddress(facts) };
	}
	return refuse(
		`is_host=true, and none of ${names} is this machine; give the address of its endpoint as --local-addr`,
	);
}

function refuse(words: string): Hosting {
	return { kind: "refuse", words };
}

function isOwn(place: MeetingPlace, facts: HostingFacts): boolean {
	const { host, addresses } = place;
	const { localAddr, hostName, external } = facts;
	const names = [host.toLowerCase(), ...addresses];
	if (localAddr !== undefined) {
		if (names.includes(localAddr.toLowerCase())) return true;
		if (isPlayedMachine(localAddr)) return false;
	}
	const isNamed =
		names.includes(hostName.toLowerCase()) ||
		// A name without an address yet may be this machine's with its domain.
		(addresses.length === 0 && host.split(".")[0] === hostName);
	return (
		isNamed ||
		addresses.some(
			(address) => isLoopback(address) || external.includes(address),
		)
	);
}

function isPlayedMachine(localAddr: string): boolean {
	return /^127\./.test(localAddr) && localAddr !== "127.0.0.1";
}

/** The endpoint's own addresses. If the name is a loopback name on this machine only, all addresses that others know. */
function listenOn(
	place: MeetingPlace | undefined,
	facts: HostingFacts,
): readonly string[] {
	const { host = "", addresses = [] } = place ?? {};
	if (isLoopback(host)) return usable(addresses.filter(isLoopback));
	const own = addresses.filter((address) => facts.external.includes(address));
	return own.length > 0 ? usable(own) : everyAddress(facts);
}

/** Those too that come with a network that is not up yet. */
function everyAddress({ external }: HostingFacts): readonly string[] {
	const isSix = external.length > 0 && !external.some((own) => isIPv4(own));
	return [isSix ? "::" : "0.0.0.0"];
}

/** IPv6 may be off although its addresses can be looked up. */
function usable(addresses: readonly string[]): readonly string[] {
	const old = addresses.filter((address) => isIPv4(address));
	return [...new Set(old.length > 0 ? old : addresses)];
}

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
