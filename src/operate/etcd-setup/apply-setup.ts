import { ElasticRunError } from "../../base/errors.js";
import type { StoreConfig } from "../../config/agent-config.js";
import { callGateway, type GatewayAnswer } from "./call-gateway.js";
import { type EtcdSetup, endOfPrefix } from "./plan-setup.js";

/** A step that was carried out, or was not needed. */
export interface SetupStep {
	readonly what: string;
	readonly isNew: boolean;
}

/**
 * Makes role and user. What is there already stays; the user's password becomes the given one.
 * @throws ElasticRunError STORE_UNREACHABLE if etcd does not answer or refuses
 */
export async function applySetup(
	{ user, role, rights }: EtcdSetup,
	password: string,
	config: StoreConfig,
): Promise<readonly SetupStep[]> {
	const { login } = config.credentials;
	const token = login && (await signIn(config, login.username, login.password));
	const call = (path: string, body: object) =>
		callGateway(config, `/v3/auth/${path}`, body, token);
	const steps: SetupStep[] = [];
	const take = async (what: string, answer: Promise<GatewayAnswer>) => {
		const { problem } = await answer;
		const isThere = /already exists|already granted/.test(problem ?? "");
		if (problem !== undefined && !isThere) throw refusal(what, problem);
		steps.push({ what, isNew: !isThere });
		return !isThere;
	};
	await take(`role ${role}`, call("role/add", { name: role }));
	for (const { prefix } of rights) {
		const perm = {
			permType: "READWRITE",
			key: base64(prefix),
			range_end: base64(endOfPrefix(prefix)),
		};
		await take(`right on ${prefix}`, call("role/grant", { name: role, perm }));
	}
	const about = { name: user, password };
	if (!(await take(`user ${user}`, call("user/add", about)))) {
		await take(`password of ${user}`, call("user/changepw", about));
	}
	await take(`role ${role} for ${user}`, call("user/grant", { user, role }));
	return steps;
}

async function signIn(
	config: StoreConfig,
	name: string,
	password: string,
): Promise<string> {
	const path = "/v3/auth/authenticate";
	const { problem, body } = await callGateway(config, path, { name, password });
	if (problem !== undefined || typeof body.token !== "string") {
		throw refusal(`login of ${name}`, problem ?? "no token came");
	}
	return body.token;
}

function refusal(what: string, problem: string): ElasticRunError {
	return new ElasticRunError(
		"STORE_UNREACHABLE",
		`etcd refuses ${what}: ${problem}`,
	);
}

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}
