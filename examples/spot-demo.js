// A spot machine that is taken away: two nodes of two workers train a network, and a
// third one waits as a spare. One node gets the notice of a cloud, its workers learn
// of it, and the spare takes over before the machine would be gone. Exits with 0 only
// if nobody lost a step.
//
//   npm run demo:spot
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judge, play, print } from "./demo-stage.js";
import { SoftStory } from "./soft-demo-story.js";

const RUN = "spot-demo";
const TRAINER = fileURLToPath(new URL("soft-train.js", import.meta.url));
const [STAYS, GOES, SPARE] = ["node-a", "node-b", "node-c"];
const WORKERS_OF_A_NODE = 2;
const WORKERS = 2 * WORKERS_OF_A_NODE;
/** AWS gives two minutes; the demo has less time. */
const WINDOW_S = 20;
const STEPS_BETWEEN = 150;
const EXIT_CODE_OF_SIGTERM = 128 + 15;
/** The demo ends the run when it has told its story. */
const ENDLESS = 1_000_000;

const story = new SoftStory(print);
await play(RUN, {
	hears: (nodeId, line) => story.tell(nodeId, line),
	demo: async (nodes, folder) => tellWhatCame(await demo(nodes, folder)),
});

function argumentsFor(endpoint, folder) {
	return [
		...["--run-id", RUN, "--restart-policy", "soft", "--nnodes", "2"],
		...["--nproc-per-node", String(WORKERS_OF_A_NODE)],
		...["--rdzv-endpoint", endpoint, "--notices", "off"],
		...["--log-prefix", "worker: "],
		...[TRAINER, "--steps", String(ENDLESS)],
		...["--checkpoint-dir", join(folder, "checkpoints")],
		...["--checkpoint-every", String(ENDLESS)],
	];
}

async function demo(nodes, folder) {
	print("Two nodes with two workers each train, and a third one is a spare:\n");
	await nodes.startEtcd();
	const args = argumentsFor(nodes.endpoint, folder);
	for (const nodeId of [STAYS, GOES]) nodes.start(nodeId, args);
	const first = await story.trainsWith(WORKERS);
	nodes.start(SPARE, args);
	await story.comesTrue(() => story.spares.has(SPARE));
	story.note("demo", `${SPARE} waits as a spare`);
	await story.makesSteps(STEPS_BETWEEN);

	story.note("demo", `${GOES}: a spot interruption, in ${WINDOW_S} s`);
	const noticedAt = performance.now();
	// It may be gone before the others have made a step.
	const leaves = nodes.ends(GOES).then((exitCode) => {
		return { exitCode, goneAfterMs: performance.now() - noticedAt };
	});
	await nodes.ask([
		...["chaos", "notice", RUN, "--node-id", GOES],
		...["--platform", "aws", "--window", `${WINDOW_S}s`],
	]);
	const second = await story.trainsWith(WORKERS, first);
	const trainsAfterMs = story.nextStep(second).atMs - noticedAt;
	const { exitCode, goneAfterMs } = await leaves;
	story.note(
		"demo",
		`${GOES} has left ${seconds(goneAfterMs)} after the notice`,
	);
	await story.makesSteps(STEPS_BETWEEN);
	story.note("demo", "that is enough: SIGTERM to all");
	const exitCodes = await nodes.stop();
	const rounds = [first, second];
	return { rounds, trainsAfterMs, goneAfterMs, exitCode, exitCodes };
}

/** Prints what came of it; the exit code. */
function tellWhatCame(came) {
	const { rounds, trainsAfterMs, goneAfterMs, exitCode, exitCodes } = came;
	const [before, after] = rounds.map((round) => story.begunIn(round));
	const on = (world, nodeId) => world.filter((one) => one.nodeId === nodeId);
	const lost = on(before, STAYS).map(({ pid }) => story.stepsLost(pid));
	const steps = new Set(after.map(({ step }) => step));
	print(
		`\n${seconds(trainsAfterMs)} from the notice to a step without ${GOES}\n`,
	);
	return judge([
		[
			`${SPARE} took the place of ${GOES}`,
			on(after, SPARE).length === WORKERS_OF_A_NODE &&
				on(after, GOES).length === 0,
		],
		[
			"all went on from the same step, and nobody lost one",
			steps.size === 1 && lost.every((count) => count === 0),
		],
		[
			`${GOES} was gone before its machine would have been`,
			exitCode === EXIT_CODE_OF_SIGTERM && goneAfterMs < WINDOW_S * 1_000,
		],
		[
			"everybody left in good order",
			exitCodes.every((code) => code === EXIT_CODE_OF_SIGTERM),
		],
	]);
}

function seconds(ms) {
	return `${(ms / 1000).toFixed(1)} s`;
}
