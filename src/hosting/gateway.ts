import { request } from "node:http";
import { attempt } from "../base/attempt.js";
import { isObject } from "../base/shape.js";
import { RunKeys } from "../rendezvous/index.js";
import { runOfMember } from "./etcd-arguments.js";

const ANSWER_WITHIN_MS = 2_000;
/** In characters: etcd's answer about its members, or about one key, is much shorter. */
const LARGEST_ANSWER = 4 * 1024 * 1024;

export interface Member {
	readonly id: string;
	/** Empty while a member that was added later has not announced it. */
	readonly name: string;
	readonly peerUrls: readonly string[];
	/** Empty if the member has never run. */
	readonly clientUrls: readonly string[];
}

/** What answers at an address. */
export type Answerer =
	/** Nothing listens there. */
	| { readonly kind: "nobody" }
	/** Something listens and does not answer: an etcd may be waiting for other members. */
	| { readonly kind: "mute" }
	/** It is not etcd. */
	| { readonly kind: "stranger" }
	/** An etcd, started by this run's agents; `runId` is undefined if no agent started it. */
	| { readonly kind: "etcd"; readonly runId: string | undefined };

/** The state of the run in a store. */
export type Sight =
	/** A node holds a lease. */
	| "used"
	/** The run has an outcome, and no node holds a lease. */
	| "over"
	/** The run has no outcome, and no node holds a lease. */
	| "deserted"
	/** The store does not answer: it has no majority, or is busy. */
	| "unknown";

/** etcd's JSON gateway at one of its addresses. It needs no package, so that a keeper stays small; agents use gRPC. */
export class Gateway {
	constructor(private readonly address: { host: string; port: number }) {}

	async members(): Promise<readonly Member[]> {
		const { members } = await this.call("cluster/member/list", {});
		return Array.isArray(members) ? members.map(memberOf) : [];
	}

	async removeMember(id: string): Promise<void> {
		await this.call("cluster/member/remove", { ID: id });
	}

	async addMember(peerUrls: readonly string[]): Promise<void> {
		await this.call("cluster/member/add", { peerURLs: peerUrls });
	}

	async answerer(): Promise<Answerer> {
		try {
			const members = await this.members();
			if (members.length === 0) return { kind: "stranger" };
			const names = members.map(({ name }) => name);
			const runId = names.map(runOfMember).find((run) => run !== undefined);
			return { kind: "etcd", runId };
		} catch (error) {
			return { kind: kindOf(error) };
		}
	}

	/** The state of a run. It reads little, however large the run is. */
	async look(runId: string): Promise<Sight> {
		const keys = new RunKeys(runId);
		try {
			const nodes = await this.call("kv/range", {
				...prefixRange(keys.nodes),
				count_only: true,
			});
			if (Number(nodes.count ?? 0) > 0) return "used";
			const round = await this.call("kv/range", { key: base64(keys.round) });
			return hasOutcome(round.kvs) ? "over" : "deserted";
		} catch {
			return "unknown";
		}
	}

	private call(path: string, body: object): Promise<Record<string, unknown>> {
		const { host, port } = this.address;
		return new Promise((resolve, reject) => {
			const asked = request(
				{
					...{ host, port, path: `/v3/${path}`, method: "POST" },
					headers: { "content-type": "application/json" },
					agent: false,
					signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
				},
				(answer) => {
					let text = "";
					answer.setEncoding("utf8");
					answer.on("data", (chunk: string) => {
						text += chunk;
						if (text.length <= LARGEST_ANSWER) return;
						reject(new StrangeAnswer(`${path}: an answer without an end`));
						asked.destroy();
					});
					answer.on("error", reject);
					answer.on("end", () => {
						const value: unknown = attempt(() => JSON.parse(text));
						const words = `${path}: ${text.slice(0, 200)}`;
						if (!isObject(value)) reject(new StrangeAnswer(words));
						else if (answer.statusCode === 200) resolve(value);
						else if (isRefusal(value)) reject(new Error(words));
						else reject(new StrangeAnswer(words));
					});
				},
			);
			asked.on("error", reject);
			asked.end(JSON.stringify(body));
		});
	}
}

/** Something other than etcd answered. */
class StrangeAnswer extends Error {}

/** Whether etcd says that it cannot answer now: it has no leader, or is starting. */
function isRefusal(value: Record<string, unknown>): boolean {
	return "code" in value && ("message" in value || "error" in value);
}

function kindOf(error: unknown): "nobody" | "mute" | "stranger" {
	if (error instanceof StrangeAnswer) return "stranger";
	const code = error instanceof Error && "code" in error ? error.code : "";
	if (code === "ECONNREFUSED") return "nobody";
	return String(code).startsWith("HPE_") ? "stranger" : "mute";
}

function memberOf(value: unknown): Member {
	const member = isObject(value) ? value : {};
	return {
		id: String(member.ID ?? ""),
		name: String(member.name ?? ""),
		peerUrls: textsOf(member.peerURLs),
		clientUrls: textsOf(member.clientURLs),
	};
}

function textsOf(value: unknown): readonly string[] {
	return Array.isArray(value) ? value.map(String) : [];
}

function hasOutcome(entries: unknown): boolean {
	const [entry] = Array.isArray(entries) ? entries : [];
	if (!isObject(entry)) return false;
	const text = Buffer.from(String(entry.value ?? ""), "base64").toString();
	const round: unknown = attempt(() => JSON.parse(text));
	return isObject(round) && isObject(round.outcome);
}

function prefixRange(prefix: string): { key: string; range_end: string } {
	const last = prefix.charCodeAt(prefix.length - 1) + 1;
	const end = prefix.slice(0, -1) + String.fromCharCode(last);
	return { key: base64(prefix), range_end: base64(end) };
}

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}
