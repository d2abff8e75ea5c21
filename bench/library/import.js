// Prints how long the import of a file takes, in milliseconds.
// What the first import() of any process costs is not the file's.
// Usage: import.js FILE
await import("node:fs");
await import("./nothing.js");
const start = performance.now();
await import(process.argv[2]);
console.log(performance.now() - start);
