// The least that can be imported.
export {};
