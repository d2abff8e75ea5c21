import { onOff, optionsOf } from "../option.js";
import { parseEndpoints, parsePort } from "../parse/endpoints.js";
import { parseLocalAddress, parseNodeRange } from "../parse/nodes.js";
import { parseBackend, parseRendezvousConf } from "../parse/rendezvous.js";
import {
	ok,
	oneOf,
	parseCount,
	parseDuration,
	parseName,
} from "../parse/scalars.js";

export const RENDEZVOUS_OPTIONS = optionsOf("Rendezvous", {
	nnodes: {
		argument: "N|MIN:MAX",
		forms: ["number"],
		defaultText: "1",
		help: "number of nodes",
		parse: parseNodeRange,
	},
	runId: {
		aliases: ["rdzv-id"],
		argument: "ID",
		defaultHelp: "Slurm's job and step, else from the command",
		help: "name of the run, the same on every node",
		parse: parseName,
	},
	nodeId: {
		argument: "ID",
		defaultHelp: "the host name",
		help: "name of this node; ranks, budgets and logs go by it",
		parse: parseName,
	},
	rdzvBackend: {
		argument: "etcd|c10d|memory",
		defaultHelp: "memory for one node, else etcd",
		help: "where the run's shared state lives; c10d: in an etcd that the first endpoint's launcher starts",
		parse: parseBackend,
	},
	rdzvEndpoint: {
		argument: "HOST:PORT,…",
		forms: ["list"],
		defaultHelp: "127.0.0.1:2379",
		help: "addresses of etcd, with https:// in front for TLS; of c10d, HOST[:29400] or three of them",
		parse: (text, origin) => parseEndpoints(text, origin),
	},
	rdzvConf: {
		argument: "K=V,…",
		forms: ["map"],
		help: "join_timeout (600), last_call_timeout (30), settle_timeout (shutdown-timeout + 5), lease_ttl (5), in seconds; username, password_file, cacert, cert, key; is_host; link_port",
		parse: parseRendezvousConf,
	},
	links: {
		argument: "auto|off",
		defaultText: "auto",
		help: "auto: agents hold connections to one another, so that a killed launcher is noticed at once; off: when its lease ends",
		parse: oneOf("auto", "off"),
	},
	rideOut: {
		argument: "TIME|off",
		forms: ["number"],
		defaultText: "10m",
		help: "how long a round goes on while etcd is away and all its nodes confirm the round to one another",
		parse: (text) => (text === "off" ? ok(0) : parseDuration(text)),
	},
	standalone: onOff("one node that needs no store: as --rdzv-backend memory"),
	masterAddr: {
		argument: "HOST",
		help: "without --rdzv-endpoint: nodes meet there as with --rdzv-backend c10d",
		parse: parseLocalAddress,
	},
	masterPort: {
		argument: "PORT",
		forms: ["number"],
		defaultHelp: "29500",
		help: "the job's port at --master-addr; nodes meet at the next one",
		parse: parsePort,
	},
	nodeRank: {
		argument: "N",
		forms: ["number"],
		help: "this node's wanted place in the order of ranks; 0 hosts at --master-addr",
		parse: parseCount,
	},
	localAddr: {
		argument: "ADDR",
		defaultHelp: "detected, or 127.0.0.1 for one node",
		help: "address by which other nodes reach this one",
		parse: parseLocalAddress,
	},
});
