import { testSeedsFrom } from "../simulation/test-seeds.js";

// Those that `npm test` plays come first.
testSeedsFrom(1, 1_000);
