// Prints how long the import of the runtime library takes, in milliseconds.
// What the first import() of any process costs is not the library's.
await import("node:fs");
await import("./nothing.js");
const start = performance.now();
await import("../../dist/src/runtime/runtime.js");
console.log(performance.now() - start);
