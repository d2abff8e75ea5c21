/** A selection of a worker's two streams: none, stdout, stderr or both (torchrun's 0, 1, 2, 3). */
export interface StreamSelection {
	readonly stdout: boolean;
	readonly stderr: boolean;
}
