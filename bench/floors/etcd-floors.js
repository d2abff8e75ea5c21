import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Etcd3 } from "etcd3";

const ROUND_TRIPS = 50;
/** Connected, its code compiled. */
const WARM_UP_TRIPS = 20;

/**
 * One client writes a key, another hears of it: in milliseconds, the median of
 * many. Agents cannot learn of anything faster.
 * @type {import("../figures.js").Beside}
 */
export const etcdTells = {
	name: "etcd, once told",
	measure: (_place, { etcd }) =>
		withClients(etcd, async (writer, reader) => {
			const watcher = await reader.watch().key("floor").create();
			const samples = [];
			for (let trip = 0; trip < WARM_UP_TRIPS + ROUND_TRIPS; trip += 1) {
				const heard = once(watcher, "put");
				const start = performance.now();
				void writer.put("floor").value(String(trip)).exec();
				await heard;
				samples.push(performance.now() - start);
				// Neither client is still busy with the last one.
				await sleep(2);
			}
			await watcher.cancel();
			return medianOf(samples.slice(WARM_UP_TRIPS));
		}),
};

/**
 * A lease is not renewed again → a client hears that its key is gone. An agent
 * that is killed has last renewed its own at some time before.
 * @param {number} ttlS
 * @returns {import("../figures.js").Beside}
 */
export function leaseEnds(ttlS) {
	return {
		name: `etcd, lease of ${ttlS} s`,
		measure: (_place, { etcd }) =>
			withClients(etcd, async (writer, reader) => {
				const key = `floor-${Math.random()}`;
				const watcher = await reader.watch().key(key).create();
				const gone = once(watcher, "delete");
				const lease = writer.lease(ttlS, { autoKeepAlive: false });
				await lease.put(key).value("").exec();
				await lease.keepaliveOnce();
				const start = performance.now();
				await gone;
				const ms = performance.now() - start;
				await watcher.cancel();
				return ms;
			}),
	};
}

async function withClients({ endpoint }, measure) {
	const clients = [1, 2].map(() => new Etcd3({ hosts: endpoint }));
	try {
		return await measure(...clients);
	} finally {
		for (const client of clients) client.close();
	}
}

function medianOf(samples) {
	const sorted = [...samples].sort((left, right) => left - right);
	return sorted[Math.floor(sorted.length / 2)];
}
