/** The flags of `barrier` that a launch does not have. */
export const BARRIER_FLAGS = [
	{ name: "probe-port", argument: "PORT" },
	{ name: "probe-path", argument: "PATH" },
	{ name: "exit-file", argument: "FILE" },
	{ name: "outcome-file", argument: "FILE" },
];
