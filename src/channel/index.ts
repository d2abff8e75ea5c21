export { ChannelRoot, openChannelRoot } from "./channel-root.js";
export {
	isDeadAgents,
	makeDirectories,
	OWNER_FILE,
	removeDirectory,
	removeTree,
	removeTreeAside,
	takePrivateDirectory,
} from "./directories.js";
export {
	networkFileSystemOf,
	openLocalWatcher,
	watchDirectory,
} from "./directory-watch.js";
export { listenToDoorbell } from "./doorbell.js";
export { EventReader } from "./event-reader.js";
export {
	type ChannelEvent,
	type NoticeEvent,
	type NoticeState,
	type ReceivedReply,
	type WorkerEvent,
	type WorkerInfo,
	type WorkerReply,
	WorkerState,
	WorldChangeEvent,
	workerInfoOf,
} from "./events.js";
export { JsonFields } from "./json-fields.js";
export { channelPaths, type HookPaths, hookPaths } from "./layout.js";
export { readMessage, replaceFile } from "./message-file.js";
export { channelFailure, onceEach } from "./problems.js";
export {
	decodeIdentity,
	encodeIdentity,
	hostIdOf,
	isDead,
	isGone,
	machineIdOf,
	networkNamespace,
	ownIdentity,
	type ProcessIdentity,
} from "./process-identity.js";
export { type ReplyListener, ReplyWatch } from "./reply-watch.js";
export { ReplyWriter } from "./reply-writer.js";
export {
	type OutgoingEvent,
	type OutgoingNotice,
	WorkerChannel,
} from "./worker-channel.js";
export { claimHook, PARKED_BY, PARKING_DESCRIPTOR } from "./worker-hook.js";
