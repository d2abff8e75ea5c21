import { join } from "node:path";
import { attempt } from "../base/attempt.js";
import { readMessage, replaceFile } from "../channel/index.js";
import { NODE_LINKS, type NodeLinks } from "../model/index.js";
import type { LocalAgent } from "./local-agents.js";

/** The file in an agent's directory: docs/channel.md. It is there without the store, too. */
const LINKS_FILE = "links.json";

/** Throws the system's error. */
export function writeLinksFile(directory: string, links: NodeLinks): void {
	const text = JSON.stringify({ version: 1, ...links });
	replaceFile(join(directory, LINKS_FILE), text, directory);
}

/** Undefined if there is no readable one: the agent has no links. */
export function readLinksFile({
	directory,
}: LocalAgent): NodeLinks | undefined {
	const file = attempt(() => readMessage(join(directory, LINKS_FILE)));
	const links: unknown = attempt(() => JSON.parse(file?.text ?? ""));
	return NODE_LINKS(links, {}) ? links : undefined;
}
