import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Launch, LaunchSite } from "./launch.js";
import { onTestFinished, thisTest } from "./this-test.js";

/** A namespace each for network, host name and mounts, until its first process ends. */
const OPEN = `
hostname "$1"
mount -t sysfs sysfs /sys
mount --bind "$2" /etc/hosts
ip link set lo up
echo ready
exec sleep 600
`;
/** A bridge of its own with something on it, as Docker makes one; older than the network between machines. */
const DOCKER = [
	"link add docker0 type bridge",
	"address add 172.17.0.1/16 dev docker0",
	"link add veth1 type veth peer name inside1",
	"link set veth1 master docker0",
	...["docker0", "veth1", "inside1"].map((name) => `link set ${name} up`),
];

/** A machine that is played by namespaces of this one. */
export interface PlayedMachine {
	/** Adds a line to its /etc/hosts. */
	knows(line: string): void;
	/** Lays a network between it and another one: 10.77.0.1 here, 10.77.0.2 there. */
	joins(other: PlayedMachine): void;
	readonly pid: number;
	/** Runs `ip` there. */
	ip(...commands: readonly string[]): void;
	/** Starts the built command there. */
	launch(
		args: readonly string[],
		env?: Readonly<Record<string, string>>,
	): Launch;
}

/** The machines node0, which has a bridge, and node1, without a network. A test that may not have them is skipped. */
export async function twoMachines(
	site: LaunchSite,
): Promise<readonly [PlayedMachine, PlayedMachine]> {
	const { status, stderr } = spawnSync("unshare", [
		...["-n", "-u", "-m", "ip", "link", "add", "docker0", "type", "bridge"],
	]);
	if (status !== 0) {
		thisTest()?.skip(`namespaces cannot be made here: ${stderr}`);
	}
	const [node0, node1] = [await open("node0"), await open("node1")];
	node0.ip(...DOCKER);
	return [node0, node1];

	async function open(name: string) {
		const hosts = join(site.path, `hosts-${name}`);
		writeFileSync(hosts, "127.0.0.1 localhost\n");
		const holder = spawn(
			"unshare",
			["-n", "-u", "-m", "sh", "-ec", OPEN, "sh", name, hosts],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		onTestFinished(() => {
			holder.kill("SIGKILL");
		});
		await once(holder.stdout, "data");
		const within = ["nsenter", "-t", `${holder.pid}`, "-n", "-u", "-m"];
		const [file = "", ...words] = within;
		const ip = (...commands: readonly string[]) => {
			for (const command of commands) {
				execFileSync(file, [...words, "ip", ...command.split(" ")]);
			}
		};
		const { pid = 0 } = holder;
		return {
			pid,
			ip,
			knows: (line: string) => appendFileSync(hosts, `${line}\n`),
			joins(other: PlayedMachine) {
				ip(`link add eth0 type veth peer name eth0 netns ${other.pid}`);
				for (const [number, machine] of [this, other].entries()) {
					machine.ip(`address add 10.77.0.${number + 1}/24 dev eth0`);
					machine.ip("link set eth0 up");
				}
			},
			launch: (args: readonly string[], env = {}) =>
				site.launch(args, {
					env: { ELASTIC_RUN_NODE_ID: name, ...env },
					through: [...within, `--wdns=${site.path}`],
				}),
		};
	}
}
