/**
 * What a worker does wrong: see trainer.js.
 *
 * @typedef {object} Fault
 * @property {number} [at] at this step; 0: before the first one
 * @property {number} [every] once at each so many steps instead
 * @property {readonly number[]} [rounds] in these rounds; all of them unless given
 * @property {readonly number[]} [ranks] default: rank 1
 * @property {string} act
 * @property {number} [code] of `exit`
 * @property {string} [signal] of `kill`
 * @property {number} [stubborn] this rank ignores SIGTERM
 *
 * What the launcher must make of it.
 *
 * @typedef {object} Verdict
 * @property {string} words
 * @property {number} code of the agent, or of the agent that has the fault
 * @property {RegExp} [says] on stderr
 * @property {number} [rounds] no more than so many
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {Fault} [fault]
 * @property {string} [program] instead of the trainer: a file here, or a command
 * @property {readonly string[]} [flags]
 * @property {"SIGINT" | "SIGTERM" | "stop"} [outside] what somebody does once step 12 was made
 * @property {{ others: number, nodes: string, kills?: NodeJS.Signals }} [cluster] other agents, without the fault; and
 *   the signal that the agent of the fault gets once step 12 was made
 * @property {Verdict} verdict
 */

const ENDS = (says, rounds = 3) => ({
	...{ words: "ends the run", code: 1, says, rounds },
});
const STUCK = /rank 1 on .*no restart got beyond step 11/s;
const RECOVERS = { words: "recovers", code: 0 };
const HANG = ["--hang-timeout", "1"];

/** @type {readonly Case[]} */
export const POOL = [
	// What no restart can help.
	{
		name: "bug at a fixed step",
		fault: { at: 12, act: "throw" },
		verdict: ENDS(STUCK),
	},
	{
		name: "bug before the first step",
		fault: { at: 0, act: "throw" },
		verdict: ENDS(/root cause: rank 1 on /),
	},
	{
		name: "exit code at a fixed step",
		fault: { at: 12, act: "exit", code: 3 },
		verdict: ENDS(STUCK),
	},
	{
		name: "exit code before the first step, without a word",
		fault: { at: 0, act: "exit", code: 7 },
		verdict: ENDS(/root cause: rank 1 on /),
	},
	{
		name: "bad data on rank 0",
		fault: { at: 28, ranks: [0], act: "throw" },
		verdict: ENDS(/rank 0 on .*no restart got beyond step 27/s),
	},
	{
		name: "import error in Python",
		program: "import-error.py",
		verdict: ENDS(/No module named/),
	},
	{
		name: "import error in JavaScript",
		program: "import-error.js",
		verdict: ENDS(/Cannot find package/),
	},
	{
		name: "segmentation fault at a fixed step",
		fault: { at: 12, act: "kill", signal: "SIGSEGV" },
		verdict: ENDS(STUCK),
	},
	{
		name: "abort at a fixed step",
		fault: { at: 12, act: "kill", signal: "SIGABRT" },
		verdict: ENDS(STUCK),
	},
	{
		name: "hang at a fixed step",
		fault: { at: 12, act: "sleep" },
		flags: HANG,
		verdict: ENDS(/hung for .*no restart got beyond step 11/s),
	},
	{
		name: "full disk at a fixed step",
		fault: { at: 12, act: "throw-full" },
		verdict: ENDS(/ENOSPC.*no restart got beyond step 11/s),
	},
	{
		name: "memory used up at a fixed step",
		fault: { at: 12, act: "use-memory" },
		verdict: ENDS(STUCK),
	},
	{
		name: "socket that never answers at a fixed step",
		fault: { at: 12, act: "read-socket" },
		flags: HANG,
		verdict: ENDS(/hung for .*no restart got beyond step 11/s),
	},
	{
		name: "another error each time",
		fault: { at: 12, act: "throw-other" },
		verdict: ENDS(/the budget of 3 restarts is spent/, 4),
	},
	{
		name: "another error each time, before the first step",
		fault: { at: 0, act: "throw-other" },
		flags: ["--max-restarts", "4", "--restart-delay", "0:0.1"],
		verdict: ENDS(/the budget of 4 restarts is spent/, 5),
	},
	{
		name: "no budget",
		fault: { at: 12, rounds: [1], act: "throw" },
		flags: ["--max-restarts", "0"],
		verdict: ENDS(/the budget of 0 restarts is spent/, 1),
	},
	{
		name: "command that is not there",
		program: "./not-there",
		verdict: { words: "refuses to start", code: 127 },
	},
	{
		name: "command that may not be executed",
		program: "/etc/passwd",
		verdict: { words: "refuses to start", code: 126 },
	},
	// What a restart helps.
	{
		name: "exception once",
		fault: { at: 12, rounds: [1], act: "throw" },
		verdict: RECOVERS,
	},
	{
		name: "the same exception twice",
		fault: { at: 12, rounds: [1, 2], act: "throw" },
		verdict: RECOVERS,
	},
	{
		name: "the same exception five times, each time further",
		fault: { every: 8, act: "throw" },
		flags: ["--max-restarts", "10"],
		verdict: RECOVERS,
	},
	{
		name: "the same, with a budget for a window of time",
		fault: { every: 8, act: "throw" },
		flags: ["--max-restarts", "1/100ms"],
		verdict: RECOVERS,
	},
	{
		name: "segmentation fault once",
		fault: { at: 12, rounds: [1], act: "kill", signal: "SIGSEGV" },
		verdict: RECOVERS,
	},
	{
		name: "killed by SIGKILL once",
		fault: { at: 12, rounds: [1], act: "kill", signal: "SIGKILL" },
		verdict: RECOVERS,
	},
	{
		name: "killed by SIGKILL three times",
		fault: { at: 12, rounds: [1, 2, 3], act: "kill", signal: "SIGKILL" },
		flags: ["--max-restarts", "5"],
		verdict: RECOVERS,
	},
	{
		name: "ended by SIGTERM once",
		fault: { at: 12, rounds: [1], act: "kill", signal: "SIGTERM" },
		verdict: RECOVERS,
	},
	{
		name: "full disk once",
		fault: { at: 12, rounds: [1], act: "throw-full" },
		verdict: RECOVERS,
	},
	{
		name: "memory used up once",
		fault: { at: 12, rounds: [1], act: "use-memory" },
		verdict: RECOVERS,
	},
	{
		name: "flaky peer, and an error of the rank that loses it, with a budget of one",
		fault: { at: 12, rounds: [1], act: "drop" },
		flags: ["--max-restarts", "1"],
		verdict: { ...RECOVERS, says: /rank 1 failed: killed by SIGKILL/ },
	},
	{
		name: "socket that never answers once",
		fault: { at: 12, rounds: [1], act: "read-socket" },
		flags: HANG,
		verdict: { ...RECOVERS, says: /hung for/ },
	},
	{
		name: "hang once",
		fault: { at: 12, rounds: [1], act: "sleep" },
		flags: HANG,
		verdict: { ...RECOVERS, says: /hung for/ },
	},
	{
		name: "endless loop once",
		fault: { at: 12, rounds: [1], act: "spin" },
		flags: HANG,
		verdict: { ...RECOVERS, says: /no step for/ },
	},
	{
		name: "stopped by SIGSTOP once",
		fault: {
			...{ at: 12, rounds: [1], act: "kill", signal: "SIGSTOP" },
		},
		flags: HANG,
		verdict: { ...RECOVERS, says: /stopped/ },
	},
	{
		name: "two ranks at once, with a budget of one",
		fault: { at: 12, rounds: [1], ranks: [0, 1], act: "throw" },
		flags: ["--max-restarts", "1"],
		verdict: RECOVERS,
	},
	{
		name: "a rank that has nothing left to do",
		fault: { at: 12, act: "finish" },
		verdict: RECOVERS,
	},
	{
		name: "exception once, while the other rank ignores SIGTERM",
		fault: { at: 12, rounds: [1], act: "throw", stubborn: 0 },
		flags: ["--shutdown-timeout", "1"],
		verdict: RECOVERS,
	},
	// What a rule says.
	{
		name: "exit code that ends the run by a rule",
		fault: { at: 12, act: "exit", code: 64 },
		flags: ["--rule", "exit=64-78 => fail-run"],
		verdict: ENDS(/rule 1 \(exit=64-78 => fail-run\)/, 1),
	},
	{
		name: "exit code that costs nothing by a rule",
		fault: { at: 12, rounds: [1, 2], act: "exit", code: 3 },
		flags: ["--max-restarts", "0", "--rule", "exit=3 => restart-uncounted"],
		verdict: RECOVERS,
	},
	{
		name: "signal that replaces the node by a rule",
		fault: { at: 12, act: "kill", signal: "SIGKILL" },
		flags: ["--rule", "signal=SIGKILL => replace-node"],
		verdict: { words: "leaves the run, to be replaced", code: 75, rounds: 1 },
	},
	// What somebody wants.
	{
		name: "Ctrl-C",
		outside: "SIGINT",
		verdict: { words: "leaves the run", code: 130, rounds: 1 },
	},
	{
		name: "end of a service",
		outside: "SIGTERM",
		verdict: { words: "leaves the run", code: 143, rounds: 1 },
	},
	{
		name: "elastic-run stop",
		outside: "stop",
		verdict: { words: "stops the run", code: 5, rounds: 1 },
	},
	// What happens to one of several nodes.
	{
		name: "bad node, and a spare",
		fault: { at: 12, act: "throw", ranks: [0, 1, 2, 3] },
		flags: ["--max-node-restarts", "1"],
		cluster: { others: 2, nodes: "2:2" },
		verdict: { words: "the spare takes its seat", code: 75 },
	},
	{
		name: "bad node, and none to take its seat",
		fault: { at: 12, act: "throw", ranks: [0, 1, 2, 3] },
		flags: ["--max-node-restarts", "1"],
		cluster: { others: 1, nodes: "1:2" },
		verdict: { words: "the run continues without it", code: 75 },
	},
	{
		name: "agent killed",
		cluster: { others: 1, nodes: "1:2", kills: "SIGKILL" },
		verdict: { words: "the run continues without it", code: 137 },
	},
	{
		name: "preempted node",
		cluster: { others: 1, nodes: "1:2", kills: "SIGTERM" },
		verdict: { words: "the run continues without it", code: 143 },
	},
];
