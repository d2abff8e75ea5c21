import { testSeeds } from "./test-seeds.js";

// Beside the first half, on another core.
testSeeds("second half");
