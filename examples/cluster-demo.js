// A cluster on this machine: an etcd and three nodes with two workers each, which
// train a network on handwritten digits under the hard policy. One node is killed
// and comes back, and the result is that of a training run that nobody disturbed.
// Exits with 0 only if that is so.
//
//   npm run demo:cluster
//   npm run demo:cluster -- --keep-open    goes on until Ctrl-C: look at its page
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ClusterStory, LOG_PREFIX } from "./cluster-demo-story.js";
import { areGone } from "./demo-nodes.js";
import { judge, play, print } from "./demo-stage.js";

const TRAINER = fileURLToPath(new URL("train.js", import.meta.url));
const RUN_ID = "cluster-demo";
const NODES = ["node-a", "node-b", "node-c"];
const VICTIM = "node-b";
/** Whose page is named: each node has one of its own. */
const WATCHED = "node-a";
/** Seconds after which a node that was killed counts as gone: the default, for all of it may share two cores with much else. */
const LEASE_TTL = 5;
/** So many that a slow machine has its node back before they are done. */
const STEPS = 2_000;
const STEPS_BEFORE_THE_KILL = 300;
const STEPS_WITHOUT_IT = 100;
const LEAST_ACCURACY = 0.9;
const LARGEST_DIFFERENCE = 0.005;
/** More than anybody waits for, of steps and of milliseconds. */
const ENDLESS = 2 ** 31 - 1;
/** What README.md says of torchrun 2.13 in the same places. */
const TORCHRUN = {
	launcherKilled: "workers live on, as children of pid 1",
	nodeKilled:
		"the others wait for it until their collectives time out, or a worker of theirs fails as well",
};

const { values: flags } = parseArgs({
	options: { "keep-open": { type: "boolean", default: false } },
});
const isKeptOpen = flags["keep-open"];
const story = new ClusterStory(print);
const calm = new ClusterStory(print);
await play(RUN_ID, {
	hears: (nodeId, line) =>
		(nodeId === "calm" ? calm : story).tell(nodeId, line),
	demo,
	...(isKeptOpen ? { limitMs: ENDLESS } : {}),
});

async function demo(nodes, folder) {
	print(
		"Three nodes with two workers each train together, and meet at an etcd of their own:\n",
	);
	await nodes.startEtcd();
	const args = argumentsFor(nodes.endpoint, folder);
	tell(`an etcd is started at ${nodes.endpoint}; a lease lives ${LEASE_TTL} s`);
	await forms(nodes, args);
	await story.makesSteps(STEPS_BEFORE_THE_KILL);
	const first = story.newestRound;
	const second = await losesNode(nodes, first);
	await story.makesSteps(STEPS_WITHOUT_IT);
	const third = await getsItBack(nodes, args, story.newestRound);
	if (isKeptOpen) return goesOn(nodes);
	const exitCodes = await nodes.finish();
	tell("the run has ended");
	const history = await nodes.ask([
		...["history", RUN_ID, "--rdzv-endpoint", nodes.endpoint],
	]);
	nodes.start("calm", trainer(folder, "calm", ["--standalone"]));
	await nodes.finish();
	return tellWhatCame({ first, second, third, exitCodes, history });
}

/** Resolves once all three nodes train. */
async function forms(nodes, args) {
	const since = performance.now();
	for (const nodeId of NODES) nodes.start(nodeId, args);
	tell(`a page that shows the run: ${await story.pageOf(WATCHED)}`, since);
	let round = 0;
	let first;
	// On a machine that is too slow for this lease, a round may be left before it has come to anything.
	while (first === undefined) {
		const before = round;
		round = await story.startsAfter(before, 6);
		tell(`round ${round} runs: ${ranksIn(round)}`, since);
		await story.comesTrue(() => story.stepIn(round) ?? story.leftOf(round));
		first = story.stepIn(round);
	}
	tell(`they train: step ${first.step}`, since);
}

/** The round without the node that is killed, and how long nobody trained. */
async function losesNode(nodes, round) {
	const { pids, firstRank } = story
		.world(round)
		.find(({ nodeId }) => nodeId === VICTIM);
	const since = performance.now();
	const { step } = story.steps.at(-1);
	tell(
		`kill -9 of the agent of ${VICTIM}, which has ranks ${firstRank}-${firstRank + 1}, at step ${step}`,
	);
	nodes.kill(VICTIM);
	await areGone(pids);
	tell(
		`its workers, ${pids.join(" and ")}, are gone: ended by its guard`,
		since,
	);
	tellOfTorchrun(TORCHRUN.launcherKilled);
	const { next, trainsAt } = await changes(
		round,
		4,
		since,
		`, for the guard of ${VICTIM} has said that nothing of it is left`,
	);
	tellOfTorchrun(TORCHRUN.nodeKilled);
	return { round: next, downMs: trainsAt - since };
}

/** The round with the node that has come back, and how long nobody trained. */
async function getsItBack(nodes, args, round) {
	const since = performance.now();
	tell(`${VICTIM} is started again`);
	nodes.start(VICTIM, args);
	const { next, leftAt, trainsAt } = await changes(round, 6, since);
	return { round: next, downMs: trainsAt - leftAt };
}

/** Tells how a round is left and the next one begins, and why only now. */
async function changes(round, worldSize, since, why = "") {
	const left = await story.comesTrue(() => story.leftOf(round));
	const words = `${left.nodeId} leaves round ${round}: "${left.reason}"`;
	tell(words, since, left.atMs);
	const next = await story.startsAfter(round, worldSize);
	const startedAt = Math.max(...story.world(next).map(({ atMs }) => atMs));
	tell(`round ${next} runs${why}: ${ranksIn(next)}`, since, startedAt);
	await story.comesTrue(() => story.stepIn(next) ?? story.leftOf(next));
	const step = story.stepIn(next);
	if (step === undefined)
		return { ...(await changes(next, worldSize, since)), leftAt: left.atMs };
	const resumed = story.resumed.find((one) => one.round === next);
	const trainsAt = step.atMs;
	tell(
		`they train again, from the checkpoint of step ${resumed.step}`,
		since,
		trainsAt,
	);
	return { next, leftAt: left.atMs, trainsAt };
}

async function goesOn(nodes) {
	const page = await story.pageOf(WATCHED);
	print(`\nThe run goes on until Ctrl-C. Its page: ${page}`);
	return Math.max(...(await nodes.finish()));
}

/** Prints what came of it; the exit code. */
function tellWhatCame({ first, second, third, exitCodes, history }) {
	print(`\n${history.trimEnd()}\n`);
	print(
		`nobody trained for ${inSeconds(second.downMs)} after the kill, and for ${inSeconds(third.downMs)} when it was back\n`,
	);
	const order = (round) => story.world(round).map(({ nodeId }) => nodeId);
	const survivors = order(first).filter((nodeId) => nodeId !== VICTIM);
	const difference = Math.abs(story.accuracy - calm.accuracy);
	return judge([
		[
			`${survivors.join(" and ")} went on as ranks 0-1 and 2-3 of 4`,
			order(second.round).join() === survivors.join(),
		],
		[
			`${VICTIM} came back as ranks 4-5 of 6, after those that had stayed`,
			order(third.round).join() === [...survivors, VICTIM].join(),
		],
		[
			`the history tells of the same ${third.round} rounds`,
			history.includes(` ${third.round} rounds, `),
		],
		["all agents ended with 0", exitCodes.every((code) => code === 0)],
		[
			`accuracy ${story.accuracy} with a kill, ${calm.accuracy} by one process that nobody disturbed`,
			story.accuracy >= LEAST_ACCURACY && difference <= LARGEST_DIFFERENCE,
		],
	]);
}

function argumentsFor(endpoint, folder) {
	const flags = [
		...["--run-id", RUN_ID, "--nnodes", `2:${NODES.length}`],
		...["--nproc-per-node", "2", "--rdzv-endpoint", endpoint],
		...["--rdzv-conf", `lease_ttl=${LEASE_TTL}`, "--http", "127.0.0.1:0"],
	];
	return trainer(folder, RUN_ID, flags);
}

function trainer(folder, name, flags) {
	return [
		...[...flags, "--log-prefix", LOG_PREFIX],
		...[TRAINER, "--steps", String(isKeptOpen ? ENDLESS : STEPS)],
		...["--checkpoint-dir", join(folder, "checkpoints", name)],
	];
}

/** "node-a 0-1, node-c 2-3 of 4" */
function ranksIn(round) {
	const world = story.world(round);
	const ranks = world.map(
		({ nodeId, firstRank, pids }) =>
			`${nodeId} ${firstRank}-${firstRank + pids.length - 1}`,
	);
	return `ranks ${ranks.join(", ")} of ${world[0].worldSize}`;
}

/** One line: what happened, and how long after what. */
function tell(text, since, at = performance.now()) {
	const ms = since === undefined ? "" : `+${(at - since).toFixed(0)} ms`;
	story.note(ms.padStart(9), text);
}

function tellOfTorchrun(text) {
	print(`${" ".repeat(22)}(torchrun 2.13: ${text})`);
}

function inSeconds(ms) {
	return `${(ms / 1000).toFixed(1)} s`;
}
