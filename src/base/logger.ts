/** The launcher's log as a port; pino implements it. */
export interface Logger {
	debug(message: string, details?: LogDetails): void;
	info(message: string, details?: LogDetails): void;
	warn(message: string, details?: LogDetails): void;
	error(message: string, details?: LogDetails): void;
}

export type LogDetails = Readonly<Record<string, unknown>>;
