/*
 * What an agent does, as one pure function of its state and one input.
 *
 * 1. Everything that decides is in this folder; nothing awaits, logs,
 *    reads a clock or draws a random number.
 * 2. A deadline is a field of the state; the shell holds one timer, at the
 *    earliest. Leaving a phase forgets its deadlines.
 * 3. Every transition says its reason in words; the shell logs it.
 * 4. A deadline that is due is cleared or moved by the transition it causes.
 * 5. An input that a phase does not expect is ignored by name.
 *
 *   phase    | round-seen              | worker-exited | worker-gone    | worker-acknowledged | time-passed     | stop-asked      | session-lost | worker-not-told | worker-hung | noticed         | notice-withdrawn | worker-ready
 *   ---------|-------------------------|---------------|----------------|---------------------|-----------------|-----------------|--------------|-----------------|-------------|-----------------|------------------|-------------
 *   JOINING  | RUNNING STOPPING CLOSED | STOPPING      | -              | -                   | STOPPING CLOSED | STOPPING CLOSED | -            | STOPPING        | -           | STOPPING CLOSED | -                | -
 *   RUNNING  | STOPPING                | STOPPING      | FINISHED       | -                   | STOPPING        | STOPPING        | STOPPING     | STOPPING        | STOPPING    | -               | -                | STOPPING
 *   STOPPING | CLOSED                  | -             | JOINING CLOSED | JOINING CLOSED      | CLOSED          | CLOSED          | -            | -               | -           | -               | JOINING          | -
 *   FINISHED | CLOSED JOINING STOPPING | -             | -              | -                   | CLOSED          | CLOSED          | -            | -               | -           | -               | -                | -
 *   CLOSED   | -                       | -             | -              | -                   | -               | -               | -            | -               | -           | -               | -                | -
 *
 * A cell names the phases that the input may lead to besides the present one.
 * worker-not-started is a worker's exit, worker-waits is like
 * worker-acknowledged, and the other inputs move nothing.
 *
 * A node is ready (JOINING) when each worker of its last round is gone or has
 * left that round. Until then it is STOPPING:
 *
 *   at PAUSE, a worker that               | has left when                       | if it has not after --pause-timeout
 *   --------------------------------------|-------------------------------------|------------------------------------
 *   never said HELLO                      | it is gone: it is ended at once     | -
 *   never acknowledged a PAUSE            | it acknowledges this one            | it is started again, not charged
 *   acknowledged one before               | it acknowledges this one            | it has failed
 *   follows one that ended with 0 at      | it acknowledges this one, and waits | it is started again, not charged
 *   PAUSE, when the next round ran        | for work                            |
 *
 * A worker that ends has left, too.
 *
 * A notice (`noticed`) says that the node's machine goes. The node leaves:
 *
 *   when                                       | its workers get SIGTERM
 *   -------------------------------------------|---------------------------------
 *   all its workers are ready to end           | at once
 *   its round is over for another reason, or a | when all that still work, or
 *   worker has ended (which is no incident)    | are paused, are ready, or
 *   it is in no round, and has little time     | their time is over
 *   the time of its workers is over            | at once
 */

import { onFinished } from "./finished.js";
import type { AgentInput } from "./inputs.js";
import { onJoining } from "./joining.js";
import { onRunning } from "./running.js";
import type { AgentState } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { onStopping } from "./stopping.js";

export function transition(
	state: AgentState,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (state.phase) {
		case "JOINING":
			return onJoining(state, input, context);
		case "RUNNING":
			return onRunning(state, input, context);
		case "STOPPING":
			return onStopping(state, input, context);
		case "FINISHED":
			return onFinished(state, input, context);
		case "CLOSED":
			return ignore(state);
		default:
			return state satisfies never;
	}
}
