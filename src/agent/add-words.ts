/** A message with more said of it: after a question in a sentence of its own. */
export function addWords(message: string, words: string): string {
	return message.endsWith("?")
		? `${message} ${words.charAt(0).toUpperCase()}${words.slice(1)}`
		: `${message}; ${words}`;
}
