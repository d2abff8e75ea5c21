import { testSeedsFrom } from "../simulation/test-seeds.js";

// `npm test` plays those before.
testSeedsFrom(301, 500);
