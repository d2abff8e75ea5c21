/** The run's state in one word, which decides its colour and sign. */
export type Standing = "good" | "busy" | "bad" | "over";
