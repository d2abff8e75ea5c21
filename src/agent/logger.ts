/** The launcher's own log as a port; pino stands behind it. */
export interface Logger {
	debug(message: string, details?: LogDetails): void;
	info(message: string, details?: LogDetails): void;
	warn(message: string, details?: LogDetails): void;
	error(message: string, details?: LogDetails): void;
}

export type LogDetails = Readonly<Record<string, unknown>>;
