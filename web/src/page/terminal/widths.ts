// Character widths in cells. A snapshot of the server's screen must use the same cells as live output, so the widths
// are the same as in the server's emulator (libghostty) and the C library that shells use: Unicode 11, plus the wide
// characters from later versions. The browser's tables contain marks and emoji; this module contains the remaining
// characters.

import type { IUnicodeVersionProvider, Terminal } from "@xterm/xterm";

const VERSION = "hawse";

/** Zero-width characters other than marks: the first and last code point of each range. */
const NONE = [
  0x0, 0x1f, 0x7f, 0x9f, 0x600, 0x605, 0x61c, 0x61c, 0x6dd, 0x6dd, 0x70f, 0x70f, 0x8e2, 0x8e2, 0x1160, 0x11ff,
  0x1734, 0x1734, 0x180e, 0x180e, 0x200b, 0x200f, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x206f, 0xd7b0,
  0xd7ff, 0xfeff, 0xfeff, 0xfff9, 0xfffb, 0x110bd, 0x110bd, 0x110cd, 0x110cd, 0x1171e, 0x1171e, 0x13430,
  0x13438, 0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0001, 0xe0001, 0xe0020, 0xe007f,
];
/** Ranges of wide characters other than emoji: the first and last code point of each range. */
const WIDE = [
  0x1100, 0x115f, 0x2329, 0x232a, 0x2630, 0x2637, 0x268a, 0x268f, 0x2e3a, 0x2e3b, 0x2e80, 0x2e99, 0x2e9b,
  0x2ef3, 0x2f00, 0x2fd5, 0x2ff0, 0x3029, 0x302e, 0x303e, 0x3041, 0x3096, 0x309b, 0x30ff, 0x3105, 0x312f,
  0x3131, 0x318e, 0x3190, 0x31e5, 0x31ef, 0x321e, 0x3220, 0x3247, 0x3250, 0xa48c, 0xa490, 0xa4c6, 0xa960,
  0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19, 0xfe30, 0xfe52, 0xfe54, 0xfe66, 0xfe68, 0xfe6b,
  0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x16fe3, 0x16ff0, 0x16ff6, 0x17000, 0x18cd5, 0x18cff, 0x18df2,
  0x1aff0, 0x1b155, 0x1b164, 0x1b167, 0x1b170, 0x1b2fb, 0x1d300, 0x1d356, 0x1d360, 0x1d376, 0x1f200, 0x1f202,
  0x1f210, 0x1f23b, 0x1f240, 0x1f248, 0x1f260, 0x1f265, 0x1f93b, 0x1f946, 0x20000, 0x2fffd, 0x30000, 0x3fffd,
];
const EMOJI = /\p{Emoji_Presentation}/u;
const MARK = /[\p{Mn}\p{Me}]/u;

/** Makes `terminal` use these widths; requires `allowProposedApi`. */
export function useWidths(terminal: Terminal): void {
  terminal.unicode.register(widths());
  terminal.unicode.activeVersion = VERSION;
}

export function widths(): IUnicodeVersionProvider {
  const cache = new Map<number, 0 | 1 | 2>();
  const wcwidth = (codepoint: number): 0 | 1 | 2 => {
    if (codepoint >= 0x20 && codepoint < 0x7f) return 1;
    let width = cache.get(codepoint);
    if (width === undefined) {
      width = find(codepoint);
      cache.set(codepoint, width);
    }
    return width;
  };
  return {
    version: VERSION,
    wcwidth,
    charProperties: (codepoint, preceding) => {
      // xterm.js encodes two things in one number: whether a character joins the previous one (bit 0), and its width
      // (bits 1 and 2).
      const width = wcwidth(codepoint);
      const before = (preceding >> 1) & 3;
      return width === 0 && before > 0 ? (before << 1) | 1 : width << 1;
    },
  };
}

function find(codepoint: number): 0 | 1 | 2 {
  if (contains(WIDE, codepoint)) return 2;
  if (contains(NONE, codepoint)) return 0;
  const char = String.fromCodePoint(codepoint);
  if (EMOJI.test(char)) return 2;
  return MARK.test(char) ? 0 : 1;
}

function contains(pairs: readonly number[], codepoint: number): boolean {
  for (let i = 0; i < pairs.length; i += 2)
    if (codepoint >= (pairs[i] as number) && codepoint <= (pairs[i + 1] as number)) return true;
  return false;
}
