import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CLI } from "../launchers.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const LONGEST_MS = 120_000;
/** Short times, and a small budget: a case takes seconds. */
const USUAL = ["--nproc-per-node", "2", "--shutdown-timeout", "3"];
const CONF = "join_timeout=60,last_call_timeout=1,settle_timeout=5";
let plays = 0;

/**
 * Plays one case with the built launcher.
 * @param {import("./pool.js").Case} play
 * @param {"hard" | "soft"} policy
 * @param {{ scratch: string, endpoint: string | undefined }} place
 * @returns {Promise<string | undefined>} what was wrong; undefined: the verdict was right
 */
export async function playCase(play, policy, { scratch, endpoint }) {
	const folder = mkdtempSync(join(scratch, "verdict-"));
	const runId = `bench-verdict-${process.pid}-${++plays}`;
	const run = { play, policy, folder, runId, endpoint };
	const { others = 0 } = play.cluster ?? {};
	const agents = [launch(run, 0)];
	const late = setTimeout(() => {
		for (const { child } of agents) child.kill("SIGKILL");
	}, LONGEST_MS);
	// A spare is who comes last: the node with the fault has a seat.
	if (others > 0) await agents[0].hasJoined;
	for (let index = 1; index <= others; index += 1) {
		agents.push(launch(run, index));
	}
	await actFromOutside(play, runId, folder, agents[0]);
	const ended = await Promise.all(agents.map(({ ended }) => ended));
	clearTimeout(late);
	return judge(play.verdict, ended);
}

/** The first agent has the fault. */
function launch({ play, policy, folder, runId, endpoint }, index) {
	const { fault, program, flags = [], cluster } = play;
	const nodeId = `node-${index}`;
	const meeting = cluster
		? [
				...["--nnodes", cluster.nodes, "--rdzv-endpoint", endpoint],
				...["--rdzv-conf", CONF, "--node-id", nodeId],
			]
		: [];
	const command = program ?? "trainer.js";
	const file = existsSync(join(HERE, command)) ? join(HERE, command) : command;
	const args = [
		...[CLI, ...USUAL, "--run-id", runId, "--restart-policy", policy],
		...["--log-dir", join(folder, "logs"), ...meeting, ...flags, file],
	];
	const own = index === 0 ? fault : undefined;
	const child = spawn(process.execPath, args, {
		env: {
			...process.env,
			FAULT_STATE: folder,
			FAULT: JSON.stringify(own ?? { at: -1 }),
			// A command takes its time; until then the run must not end.
			STEPS: play.outside ? "4000" : "40",
		},
		stdio: ["ignore", "ignore", "pipe"],
	});
	let stderr = "";
	/** @type {(_?: unknown) => void} */
	let joined = () => {};
	const hasJoined = new Promise((resolve) => {
		joined = resolve;
	});
	child.stderr.setEncoding("utf8").on("data", (text) => {
		stderr += text;
		if (stderr.includes("claims round 1")) joined();
	});
	child.once("close", () => joined());
	const ended = once(child, "close").then(([code, signal]) => ({
		code: code ?? 128 + constants.signals[signal],
		stderr,
	}));
	return { child, ended, hasJoined };
}

/** @param {import("./pool.js").Case} play */
async function actFromOutside({ outside, cluster }, runId, folder, { child }) {
	const act = outside ?? cluster?.kills;
	if (act === undefined) return;
	while (child.exitCode === null && furthestStep(folder) < 12) await sleep(20);
	if (act === "stop") {
		await once(spawn(process.execPath, [CLI, "stop", runId]), "close");
	} else child.kill(act);
}

function furthestStep(folder) {
	const files = readdirSync(folder).filter((name) => /^step-\d+$/.test(name));
	const steps = files.map((name) => Number(readFileSync(join(folder, name))));
	return Math.max(0, ...steps);
}

/**
 * The agent of the fault ends as it should, the others with success.
 * @param {import("./pool.js").Verdict} verdict
 * @param {{ code: number, stderr: string }[]} ended
 */
function judge({ code, says, rounds }, [first, ...others]) {
	const wrong = [];
	if (first.code !== code) wrong.push(`exit code ${first.code}, not ${code}`);
	for (const other of others) {
		if (other.code !== 0) wrong.push(`another node ends with ${other.code}`);
	}
	if (says && !says.test(first.stderr)) wrong.push(`it does not say ${says}`);
	const played = [...first.stderr.matchAll(/round (\d+): started/g)].length;
	if (rounds !== undefined && played > rounds) {
		wrong.push(`${played} rounds, not ${rounds}`);
	}
	return wrong.length === 0 ? undefined : wrong.join("; ");
}
