/** "22:30:07", in the time zone of this machine. */
export function timeOfDay(wallTime: number): string {
	const date = new Date(wallTime);
	return [date.getHours(), date.getMinutes(), date.getSeconds()]
		.map(twoDigits)
		.join(":");
}

/** "2026-11-21 22:30:07", in the time zone of this machine. */
export function dateAndTime(wallTime: number): string {
	const date = new Date(wallTime);
	const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
	return `${day.map(twoDigits).join("-")} ${timeOfDay(wallTime)}`;
}

function twoDigits(value: number): string {
	return String(value).padStart(2, "0");
}
