import { option, optionWithDefault } from "../option.js";
import { parseBackend } from "../parse/backend.js";
import { parseEndpoints, parsePort } from "../parse/endpoints.js";
import { parseLocalAddress, parseNodeRange } from "../parse/nodes.js";
import { parseRendezvousConf } from "../parse/rendezvous-conf.js";
import { parseCount, parseName, parseSwitch } from "../parse/scalars.js";

export const RENDEZVOUS_OPTIONS = {
	nnodes: optionWithDefault({
		name: "nnodes",
		group: "Rendezvous",
		argument: "N|MIN:MAX",
		forms: ["number"],
		defaultText: "1",
		help: "number of nodes",
		parse: parseNodeRange,
	}),
	runId: option({
		name: "run-id",
		aliases: ["rdzv-id"],
		group: "Rendezvous",
		argument: "ID",
		defaultHelp: "Slurm's job and step, else from the command",
		help: "name of the run, the same on every node",
		parse: parseName,
	}),
	nodeId: option({
		name: "node-id",
		group: "Rendezvous",
		argument: "ID",
		defaultHelp: "the host name",
		help: "name of this node; ranks, budgets and logs go by it",
		parse: parseName,
	}),
	rdzvBackend: option({
		name: "rdzv-backend",
		group: "Rendezvous",
		argument: "etcd|c10d|memory",
		defaultHelp: "memory for one node, else etcd",
		help: "where the run's shared state lives; c10d: in an etcd that the first endpoint's launcher starts",
		parse: parseBackend,
	}),
	rdzvEndpoint: option({
		name: "rdzv-endpoint",
		group: "Rendezvous",
		argument: "HOST:PORT,…",
		forms: ["list"],
		defaultHelp: "127.0.0.1:2379",
		help: "addresses of etcd, with https:// in front for TLS; of c10d, HOST[:29400] or three of them",
		parse: (text, origin) => parseEndpoints(text, origin),
	}),
	rdzvConf: option({
		name: "rdzv-conf",
		group: "Rendezvous",
		argument: "K=V,…",
		forms: ["map"],
		help: "join_timeout (600), last_call_timeout (30), settle_timeout (shutdown-timeout + 5), lease_ttl (5), in seconds; username, password_file, cacert, cert, key; is_host",
		parse: parseRendezvousConf,
	}),
	standalone: optionWithDefault({
		name: "standalone",
		group: "Rendezvous",
		forms: ["boolean"],
		defaultText: "0",
		help: "one node that needs no store: as --rdzv-backend memory",
		parse: parseSwitch,
	}),
	masterAddr: option({
		name: "master-addr",
		group: "Rendezvous",
		argument: "HOST",
		help: "without --rdzv-endpoint: nodes meet there as with --rdzv-backend c10d",
		parse: parseLocalAddress,
	}),
	masterPort: option({
		name: "master-port",
		group: "Rendezvous",
		argument: "PORT",
		forms: ["number"],
		defaultHelp: "29500",
		help: "the port for --master-addr",
		parse: parsePort,
	}),
	nodeRank: option({
		name: "node-rank",
		group: "Rendezvous",
		argument: "N",
		forms: ["number"],
		help: "this node's wanted place in the order of ranks; 0 hosts at --master-addr",
		parse: parseCount,
	}),
	localAddr: option({
		name: "local-addr",
		group: "Rendezvous",
		argument: "ADDR",
		defaultHelp: "detected, or 127.0.0.1 for one node",
		help: "address by which other nodes reach this one",
		parse: parseLocalAddress,
	}),
};
