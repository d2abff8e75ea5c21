import { systemClock } from "../../src/base/clock.js";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.js";
import { etcdForAll } from "../helpers/etcd.js";
import { describeStore } from "./store-contract.js";

const etcd = etcdForAll();
let prefixes = 0;

describeStore("the etcd store", async () => {
	prefixes += 1;
	const store = await openEtcdStore({
		endpoints: [etcd().endpoint],
		clock: systemClock,
		random: Math.random,
	});
	return {
		store,
		prefix: `/elastic-run/contract-${prefixes}/`,
		close: () => store.close(),
	};
});
