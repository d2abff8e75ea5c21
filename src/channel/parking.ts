/**
 * A Node process that is started before its place is known waits at a pipe of the launcher. It gets its environment as one
 * line of JSON, answers with a line feed, and closes the pipe. Then it is the worker. It ends if the pipe ends.
 */

/** Tells the process that it has to wait, and for whom: the launcher's pid. */
export const PARKED_BY = "ELASTIC_RUN_PARKED_BY";

/** The descriptor of the pipe: high, so that Node and the script find the low ones free. */
export const PARKING_DESCRIPTOR = 100;
