import { describe, expect, it } from "vitest";
import {
	etcdArguments,
	type KeeperSettings,
	memberName,
	runOfMember,
} from "../../../src/hosting/etcd-arguments.js";

const settings: KeeperSettings = {
	program: "/usr/bin/etcd",
	setpriv: undefined,
	runId: "train.1",
	directory: "/d",
	places: [{ host: "node0", port: 29_400 }],
	member: 0,
	listen: ["10.0.0.5"],
	idleMs: 1,
	rideOutMs: 0,
};
const three: KeeperSettings = {
	...settings,
	places: ["a", "b", "fd00::1"].map((host) => ({ host, port: 100 })),
	member: 1,
	listen: ["10.0.0.6", "127.0.0.1"],
};

function flags(args: readonly string[]): Readonly<Record<string, string>> {
	return Object.fromEntries(
		args.flatMap((word, index) =>
			word.startsWith("--") ? [[word.slice(2), args[index + 1] ?? ""]] : [],
		),
	);
}

describe("what etcd is started with", () => {
	it("listens on the endpoint's address alone, members at the next port", () => {
		expect(flags(etcdArguments(settings, "new"))).toMatchObject({
			name: "elastic-run.train.1.0",
			"data-dir": "/d/data",
			"listen-client-urls": "http://10.0.0.5:29400",
			"advertise-client-urls": "http://node0:29400",
			"listen-peer-urls": "http://10.0.0.5:29401",
			"initial-advertise-peer-urls": "http://10.0.0.5:29401",
			"initial-cluster": "elastic-run.train.1.0=http://10.0.0.5:29401",
			"initial-cluster-state": "new",
		});
	});

	it("names all members as every host does", () => {
		expect(flags(etcdArguments(three, "existing"))).toMatchObject({
			name: "elastic-run.train.1.1",
			"listen-client-urls": "http://10.0.0.6:100,http://127.0.0.1:100",
			"initial-advertise-peer-urls": "http://b:101",
			"initial-cluster":
				"elastic-run.train.1.0=http://a:101,elastic-run.train.1.1=http://b:101,elastic-run.train.1.2=http://[fd00::1]:101",
			"initial-cluster-token": "train.1",
			"initial-cluster-state": "existing",
		});
	});
});

it("a member's name tells the run", () => {
	expect(runOfMember(memberName("train.1", 2))).toBe("train.1");
	expect(runOfMember("default")).toBeUndefined();
});
