import { expect, it } from "vitest";
import { joinGroup } from "../../examples/all-reduce.js";
import { freePort } from "../helpers/free-port.js";

it("T4 an example's worker that came is told when rank 0 gives up waiting for the others", async () => {
	const place = {
		worldSize: 3,
		address: "127.0.0.1",
		port: await freePort(),
		token: [1, 1],
	};
	const patience = new AbortController();
	const rank0 = joinGroup({ ...place, rank: 0, signal: patience.signal });
	const never = new AbortController().signal;
	const first = await joinGroup({ ...place, rank: 1, signal: never });
	const isLost = expect(first.sum(Float64Array.of(1))).rejects.toThrow();
	// It is turned away, so that the first one has been heard.
	const twin = await joinGroup({ ...place, rank: 1, signal: never });
	await expect(twin.sum(Float64Array.of(1))).rejects.toThrow("rank 0");

	const givesUp = expect(rank0).rejects.toThrow("1 workers are missing");
	patience.abort(new Error("rank 2 does not come"));
	await Promise.all([givesUp, isLost]);
});
