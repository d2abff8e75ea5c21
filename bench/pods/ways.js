import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { freePort } from "../etcd.js";
import { CLI } from "../launchers.js";

const TRAINER = fileURLToPath(new URL("trainer.sh", import.meta.url));
const PODS = [0, 1];
const RESTART_CODE = 76;

/** What the container of the trainer does beside a barrier, as in examples/deploy/kubernetes-barrier.yaml. */
const TELLING_BARRIER = `sh "${TRAINER}" && code=0 || code=$?
echo "$code" > exit
until [ -e outcome ]; do sleep 0.05; done
exit "$(cat outcome)"`;

/** The launcher is the main process of each pod, and restarts its workers. */
export function inPlace(place) {
	return everyPod((index) => launch(place, index, []));
}

/** The launcher ends with its round, and each pod is made again. */
export function podsAgain(place) {
	return everyPod(async (index) => {
		let code;
		do {
			code = await launch(place, index, ["--restart-strategy", "recreate"]);
		} while (code === RESTART_CODE);
		return code;
	});
}

/** The launcher is a barrier beside the trainer, and the kubelet starts both containers again. */
export function containersAgain(place, Pod) {
	return everyPod(async (index) => {
		const port = await freePort();
		const env = environment(place, index);
		const cwd = place.folderOf(index);
		const files = ["--exit-file", "exit", "--outcome-file", "outcome"];
		const probe = ["--probe-port", String(port)];
		const pod = new Pod({
			...{ cwd, timeFactor: 0 },
			sidecar: {
				...{ name: "barrier", env, restartAllOn: [RESTART_CODE] },
				command: [
					...[process.execPath, CLI, "barrier", ...probe, ...files],
					...agentFlags(place, index),
				],
				startupProbe: { port, path: "/barrier-is-down" },
			},
			main: {
				...{ name: "trainer", env, restartAllOn: [137] },
				command: ["sh", "-c", TELLING_BARRIER],
			},
			output: "ignore",
		});
		try {
			return await pod.ended;
		} finally {
			await pod.close();
		}
	});
}

async function everyPod(run) {
	const codes = await Promise.all(PODS.map(run));
	if (codes.some((code) => code !== 0)) {
		throw new Error(`the pods ended with ${codes}`);
	}
}

function launch(place, index, flags) {
	const args = [...agentFlags(place, index), ...flags, "sh", TRAINER];
	const child = spawn(process.execPath, [CLI, ...args], {
		env: environment(place, index),
		cwd: place.folderOf(index),
		stdio: "ignore",
	});
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("exit", resolve);
	});
}

function agentFlags({ endpoint, runId, folderOf }, index) {
	return [
		...["--nnodes", String(PODS.length), "--run-id", runId],
		...["--node-id", `pod-${index}`, "--local-addr", "127.0.0.1"],
		...["--rdzv-endpoint", endpoint, "--log-dir", `${folderOf(index)}/logs`],
	];
}

function environment({ marks }, index) {
	const { PATH = "", HOME = "" } = process.env;
	const own = { POD_MARKS: marks, POD_INDEX: String(index) };
	return { PATH, HOME, XDG_STATE_HOME: "/dev/null", ...own };
}
