import { expect, it } from "vitest";
import { answerProbe, type ProbedNode } from "../../../src/http/open-probe.js";

const at = (phase: ProbedNode["phase"]) => ({ phase, round: 2, claim: 3 });

it.each<[string, string, ProbedNode | undefined, number, string]>([
	["GET", "/up", undefined, 503, "joining the run\n"],
	["GET", "/up", at("JOINING"), 503, "waiting for round 3\n"],
	["GET", "/up", at("RUNNING"), 200, "round 2 has begun\n"],
	["HEAD", "/up", at("RUNNING"), 200, "round 2 has begun\n"],
	["GET", "/up", at("STOPPING"), 503, "the round is over\n"],
	["GET", "/up", at("FINISHED"), 200, "round 2 has begun\n"],
	["GET", "/lifted", at("RUNNING"), 200, "round 2 has begun\n"],
	["GET", "/", at("RUNNING"), 404, "ask for /up or /lifted\n"],
	["POST", "/up", at("RUNNING"), 405, "use GET\n"],
])("%s %s is answered for %j with %i", (method, path, node, status, body) => {
	const answer = answerProbe({ method, path }, ["/up", "/lifted"], node);
	expect(answer).toMatchObject({ status, body });
});
