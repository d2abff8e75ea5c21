import { expect, it } from "vitest";
import { addressProblem } from "../../../src/agent/joining/try-peer.js";

const self = { nodeId: "b", hostId: "host-b", localAddr: "10.0.0.2" };
const HERE = "is one of this machine's own here";
const own = ["10.0.0.2", "172.17.0.1"];

it.each<[string, string, string | undefined, string | undefined]>([
	["10.0.0.1", "host-a", undefined, undefined],
	["10.0.0.1", "host-a", "ECONNREFUSED", undefined],
	["10.0.0.1", "host-a", "EHOSTUNREACH", "did not answer here (EHOSTUNREACH)"],
	// Both machines have such a bridge, and here it is this one that answers.
	["172.17.0.1", "host-a", "ECONNREFUSED", HERE],
	["172.17.0.1", "host-b", "ECONNREFUSED", undefined],
	["127.0.0.1", "host-a", "ECONNREFUSED", "means this machine here"],
	["10.0.0.2", "host-a", "ECONNREFUSED", undefined],
	["127.0.0.1", "host-b", "ECONNREFUSED", undefined],
])("%s of %s, answer %s: %s", (address, hostId, answer, problem) => {
	expect(addressProblem({ hostId, address }, self, own, answer)).toBe(problem);
});
