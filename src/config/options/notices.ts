import { optionsOf, time } from "../option.js";
import { parseNotices, parseSomeTime } from "../parse/notices.js";
import { oneOf } from "../parse/scalars.js";

export const NOTICE_OPTIONS = optionsOf("Notices", {
	notices: {
		argument: "auto|off|LIST",
		forms: ["list"],
		defaultText: "auto",
		help: "who says that this machine will go: some of aws, gcp, azure, slurm, file:PATH; auto: as the machine and its environment say",
		parse: parseNotices,
	},
	onAdvice: {
		argument: "ACTION",
		defaultText: "log",
		help: "drain or log: what follows a recommendation, such as to rebalance",
		parse: oneOf("drain", "log"),
	},
	maxLifetime: {
		argument: "TIME",
		forms: ["number"],
		defaultHelp: "none",
		help: "how long this launcher lives: its node leaves in time, with exit code 75",
		parse: parseSomeTime,
	},
	drainBefore: time(
		"60",
		"how long before the end of its lifetime, or of its Slurm job, a node leaves",
	),
	terminationGrace: {
		argument: "TIME",
		forms: ["number"],
		defaultHelp: "none",
		help: "from the platform's SIGTERM to its SIGKILL: a SIGTERM is a notice with that deadline",
		parse: parseSomeTime,
	},
	deadline: {
		argument: "TIME",
		forms: ["number"],
		defaultHelp: "none",
		help: "how long the run may take, waiting included; then it is stopped and has failed",
		parse: parseSomeTime,
	},
});
