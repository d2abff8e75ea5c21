import { MemoryStore } from "../../src/store/memory-store.js";
import { describeStore } from "./store-contract.js";

describeStore("the memory store", async () => {
	const store = new MemoryStore();
	return {
		store,
		prefix: "/elastic-run/contract/",
		close: () => store.close(),
	};
});
