import { systemClock } from "../base/clock.js";
import { ChannelSource } from "./channel-source.js";
import { channelDirectory, variables } from "./environment.js";
import { type EventSource, singleEventSource } from "./event-source.js";
import { sharedState } from "./shared-state.js";
import { eventFromVariables } from "./torchrun-event.js";
import { WorkerSession } from "./worker-session.js";

/** The state that all calls share; the first call says HELLO. Throws NotLaunchedError without a launcher. */
export function openSession(): WorkerSession {
	const state = sharedState();
	state.session ??= new WorkerSession(openSource());
	return state.session;
}

/** For calls that only report something: without elastic-run they do nothing. */
export function sessionIfLaunched(): WorkerSession | undefined {
	return channelDirectory() === undefined ? undefined : openSession();
}

/** For calls that a worker may make without following its rounds: they say no HELLO. */
export function sourceIfLaunched(): EventSource | undefined {
	return channelDirectory() === undefined ? undefined : openSource();
}

function openSource(): EventSource {
	const state = sharedState();
	state.source ??= newSource();
	return state.source;
}

function newSource(): EventSource {
	const directory = channelDirectory();
	return directory === undefined
		? singleEventSource(eventFromVariables(variables(), systemClock.wallTime()))
		: new ChannelSource(directory);
}
