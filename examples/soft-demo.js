// Soft restarts on this machine: three nodes of two workers train a network. One
// node is killed and comes back, and the others' workers go on with what they have
// in memory. Exits with 0 only if none of them was restarted or lost a step.
//
//   npm run demo:soft
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judge, play, print } from "./demo-stage.js";
import { SoftStory } from "./soft-demo-story.js";

const TRAINER = fileURLToPath(new URL("soft-train.js", import.meta.url));
const MOST_NODES = 3;
const WORKERS_OF_A_NODE = 2;
/** Seconds after which a node that was killed counts as gone. */
const LEASE_TTL = 5;
const VICTIM = "node-b";
const STEPS_BETWEEN = 150;
const EXIT_CODE_OF_SIGTERM = 128 + 15;
/** The demo ends the run when it has told its story. */
const ENDLESS = 1_000_000;

const story = new SoftStory(print);
await play("soft-demo", {
	hears: (nodeId, line) => story.tell(nodeId, line),
	demo: async (nodes, folder) => tellWhatCame(await demo(nodes, folder)),
});

function argumentsFor(endpoint, folder) {
	return [
		...["--run-id", "soft-demo", "--restart-policy", "soft"],
		...["--nnodes", `1:${MOST_NODES}`],
		...["--nproc-per-node", String(WORKERS_OF_A_NODE)],
		...["--rdzv-endpoint", endpoint],
		...["--rdzv-conf", `lease_ttl=${LEASE_TTL}`],
		...["--log-prefix", "worker: "],
		...[TRAINER, "--steps", String(ENDLESS)],
		...["--checkpoint-dir", join(folder, "checkpoints")],
		...["--checkpoint-every", String(ENDLESS)],
	];
}

async function demo(nodes, folder) {
	print(
		"Three nodes with two workers each train together, by an etcd of their own:\n",
	);
	await nodes.startEtcd();
	const args = argumentsFor(nodes.endpoint, folder);
	for (const nodeId of ["node-a", VICTIM, "node-c"]) nodes.start(nodeId, args);
	const first = await story.trainsWith(6);
	await story.makesSteps(STEPS_BETWEEN);

	story.note("demo", `kill -9 ${VICTIM}: its agent, and with it its workers`);
	const killedAt = performance.now();
	nodes.kill(VICTIM);
	const second = await story.trainsWith(4);
	const recoveryMs = story.nextStep(second).atMs - killedAt;
	story.note("demo", `the others go on ${seconds(recoveryMs)} after the kill`);
	await story.makesSteps(STEPS_BETWEEN);

	story.note("demo", `${VICTIM} comes back`);
	nodes.start(VICTIM, args);
	const third = await story.trainsWith(6);
	await story.makesSteps(STEPS_BETWEEN);
	story.note("demo", "that is enough: SIGTERM to all");
	const exitCodes = await nodes.stop();
	return { rounds: [first, second, third], recoveryMs, exitCodes };
}

/** Prints what came of it; the exit code. */
function tellWhatCame({ rounds, recoveryMs, exitCodes }) {
	const worlds = rounds.map((round) => story.begunIn(round));
	const survivors = worlds[0].filter(({ nodeId }) => nodeId !== VICTIM);
	const lives = survivors.map(({ nodeId, pid }) => ({
		nodeId,
		pid,
		rounds: worlds.map((world) => world.find((one) => one.pid === pid)),
	}));
	const lost = lives.map(({ pid }) => story.stepsLost(pid));
	print("");
	print(
		row("", "pid", ...rounds.map((round) => `round ${round}`), "steps lost"),
	);
	for (const [index, life] of lives.entries()) {
		const places = life.rounds.map(
			(one) => one && `rank ${one.rank} of ${one.worldSize}, step ${one.step}`,
		);
		print(
			row(
				life.nodeId,
				life.pid,
				...places.map((text) => text ?? "gone"),
				lost[index],
			),
		);
	}
	print(
		`\n${seconds(recoveryMs)} from the kill to the next step: a launcher that is killed says nothing, but its guard does, once its workers are gone\n`,
	);

	const hasAll = lives.every((life) => !life.rounds.includes(undefined));
	const steps = worlds.map((world) => new Set(world.map(({ step }) => step)));
	return judge([
		["the survivors kept their processes", survivors.length === 4 && hasAll],
		["none of them lost a step", lost.every((count) => count === 0)],
		[
			`who came back to ${VICTIM} began at the survivors' step`,
			steps.every(({ size }) => size === 1),
		],
		[
			"everybody left in good order",
			exitCodes.every((code) => code === EXIT_CODE_OF_SIGTERM),
		],
	]);
}

function row(...cells) {
	const widths = [8, 8, 24, 24, 24, 10];
	return cells
		.map((cell, index) => String(cell).padEnd(widths[index]))
		.join("")
		.trimEnd();
}

function seconds(ms) {
	return `${(ms / 1000).toFixed(1)} s`;
}
