// The keeper's program: `open-meeting.ts` starts it, and it outlives its agent.
import { systemClock } from "../base/clock.js";
import { DEADLY_SIGNALS, RUNTIME_SIGNALS } from "../base/deadly-signals.js";
import { closeUnaskedInspector } from "../base/unasked-inspector.js";
import { DataDirectory } from "./data-directory.js";
import type { KeeperSettings } from "./etcd-arguments.js";
import { KEEPER_EXIT, Keeper } from "./keeper.js";

closeUnaskedInspector();
// It outlives its agent, terminals and profilers: only a request to end may end it, and its etcd with it.
const outlived = [
	"SIGHUP",
	"SIGQUIT",
	...DEADLY_SIGNALS,
	...RUNTIME_SIGNALS,
] as const;
for (const signal of outlived) {
	process.on(signal, () => {});
}

const settings: KeeperSettings = JSON.parse(process.argv[2] ?? "");
process.title = `etcd-keeper ${settings.runId}`;

const keeper = new Keeper({
	settings,
	data: new DataDirectory(settings.directory),
	clock: systemClock,
});
for (const signal of ["SIGTERM", "SIGINT"] as const) {
	process.on(signal, () => keeper.ask());
}
// Its agent may be gone.
process.stderr.on("error", () => {});

const end = await keeper.toTheEnd();
if ("words" in end) process.stderr.write(`${end.words}\n`);
process.exitCode = KEEPER_EXIT[end.kind];
