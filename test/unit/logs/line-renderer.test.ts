import { describe, expect, it } from "vitest";
import { LONGEST_SHOWN_LINE_BYTES } from "../../../src/logs/line-limits.js";
import { LineRenderer } from "../../../src/logs/line-renderer.js";
import { plainMessage, plainText } from "../../../src/logs/plain-text.js";

const BELL = "\x07";

function render(input: string | Buffer, prefix = "[0] ", colours = true) {
	const renderer = new LineRenderer();
	const bytes = Buffer.from(input);
	const shown: Buffer[] = [];
	for (let at = 0; at < bytes.length; ) {
		at = renderer.render(bytes, at, bytes.length, {
			prefix: Buffer.from(prefix),
			colours,
		});
		shown.push(Buffer.from(renderer.output()));
	}
	return Buffer.concat(shown).toString("utf8");
}

describe("LineRenderer", () => {
	it.each([
		["one line", "hello\n", "[0] hello\n"],
		["several lines", "a\nb\n\nc\n", "[0] a\n[0] b\n[0] \n[0] c\n"],
		["a last line without newline", "a\nb", "[0] a\n[0] b\n"],
		["tabs stay", "a\tb\n", "[0] a\tb\n"],
		["Windows line ends", "a\r\nb\r\r\n", "[0] a\n[0] b\n"],
		["UTF-8", "größe 日本 🎉\n", "[0] größe 日本 🎉\n"],
		["bell, backspace, NUL, DEL", "a\x07b\x08c\0d\x7fe\n", "[0] abcde\n"],
		["a line of control characters only", "\0\0\0", ""],
		["an empty line of them", "\0\n", "[0] \n"],
		[
			"a colour with its reset",
			"\x1b[31mred\x1b[0m\n",
			"[0] \x1b[31mred\x1b[0m\n",
		],
		[
			"a colour left on",
			"\x1b[1;31mred\nx\n",
			"[0] \x1b[1;31mred\x1b[0m\n[0] x\n",
		],
		[
			"a true colour",
			"\x1b[38;2;1;2;3mx\x1b[m\n",
			"[0] \x1b[38;2;1;2;3mx\x1b[m\n",
		],
		["cursor movement", "a\x1b[2Ab\x1b[10;20Hc\x1b[2J\n", "[0] abc\n"],
		["a private mode", "\x1b[?1049hx\x1b[>4m\n", "[0] x\n"],
		["a window title", `\x1b]0;title${BELL}x\n`, "[0] x\n"],
		["a clipboard write", "\x1b]52;c;ZXZpbA==\x1b\\x\n", "[0] x\n"],
		["a device control string", "\x1bPq#0;2\x1b\\x\n", "[0] x\n"],
		["a string without an end", "\x1b]0;title\nnext\n", "[0] \n[0] next\n"],
		["a sequence without an end", "x\x1b[31\nnext\n", "[0] x\n[0] next\n"],
		["a lone escape", "x\x1b\nnext\x1b", "[0] x\n[0] next\n"],
		["reset of the terminal", "\x1bcx\x1b(0y\n", "[0] xy\n"],
		["C1 controls as UTF-8", "a\u009b31mb\u0085c\n", "[0] a31mbc\n"],
		[
			"other characters of those blocks",
			"é\u2010\u2070\u0622\n",
			"[0] é\u2010\u2070\u0622\n",
		],
		["a progress bar", "\r 10%\r 20%\r100%\n", "[0] 100%\n"],
		["a bar that was cleared", "50%\r     \rdone\n", "[0] done\n"],
		["a bar that ends with a return", "10%\r20%\r", "[0] 20%\n"],
		[
			"a bar in colour",
			"\x1b[32m1\x1b[0m\r\x1b[32m2\x1b[0m\n",
			"[0] \x1b[32m2\x1b[0m\n",
		],
		[
			"a reset after a return",
			"\x1b[32m9\r\x1b[0m\n",
			"[0] \x1b[32m9\x1b[0m\n",
		],
	])("%s", (_name, input, shown) => {
		expect(render(input)).toBe(shown);
	});

	it("drops all controls that Unicode knows, and nothing else", () => {
		const codes = Array.from({ length: 0xd800 }, (_, code) => code).filter(
			(code) => ![0x09, 0x0a, 0x0d, 0x1b].includes(code),
		);
		const lines = codes.map((code) => `${String.fromCodePoint(code)}x\n`);
		const shown = render(lines.join(""), "").split("\n");
		const lost = codes.filter((_, index) => shown[index] === "x");
		const all = codes.filter((code) =>
			/[\p{Cc}\p{Bidi_Control}]/u.test(String.fromCodePoint(code)),
		);
		expect(lost).toEqual(all);
	});

	it("removes colours where they are not wanted", () => {
		expect(render("\x1b[31mred\x1b[0m\n", "", false)).toBe("red\n");
	});

	it("shows a long line in pieces and loses no byte of it", () => {
		const line = "ä".repeat(100_000);
		const pieces = render(`${line}\n`, "").split("\n").slice(0, -1);
		expect(pieces.join("")).toBe(line);
		for (const piece of pieces) {
			expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(
				LONGEST_SHOWN_LINE_BYTES + 3,
			);
		}
	});

	it("takes each character for what it is, wherever it stands", () => {
		const others = "\n\r\x1b";
		const all = Array.from({ length: 0x80 }, (_, code) =>
			String.fromCharCode(code),
		).filter((character) => !others.includes(character));
		for (const character of all) {
			const isShown = character === "\t" || !/\p{Cc}/u.test(character);
			for (let before = 0; before < 9; before++) {
				const around = [" ".repeat(before), "~".repeat(9 - before)];
				const line = around.join(isShown ? character : "");
				expect(render(`${around.join(character)}\n`, "")).toBe(`${line}\n`);
			}
		}
	});

	it("never grows beyond its buffer, whatever the bytes", () => {
		let seed = 1;
		const bytes = Buffer.alloc(300_000, 0).map(() => {
			seed = (seed * 48_271) % 2_147_483_647;
			return seed & 0xff;
		});
		const shown = render(Buffer.from(bytes), "p".repeat(1_000));
		expect(shown.length).toBeGreaterThan(0);
		const uncoloured = shown.replaceAll(/\p{Cc}\[[0-9:;]*m/gu, "");
		expect(uncoloured).not.toMatch(/[^\P{Cc}\t\n]/u);
	});
});

describe("plainText", () => {
	it.each([
		["", ""],
		["one", "one"],
		["a\nb", "a\nb"],
		["\x1b[31ma\x1b[0m\n\x1b]0;t\x07b", "a\nb"],
	])("%j", (input, text) => {
		expect(plainText(input)).toBe(text);
	});

	it("makes one line of a message", () => {
		expect(plainMessage("a\nb\x1b[2J\n")).toBe("a b");
	});
});
