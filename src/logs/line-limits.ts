/** A longer line is shown in pieces of this many bytes; its file holds it whole. */
export const LONGEST_SHOWN_LINE_BYTES = 64 * 1024;

export const TAB = 0x09;
export const NEWLINE = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const ESCAPE = 0x1b;
