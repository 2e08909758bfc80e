// Character widths in cells. A snapshot of the server's screen must use the same cells as the live output, so this
// follows the server's emulator (libghostty) and, with it, the C library that shells use. The add-on's tables end
// with Unicode 11; later characters are added here.

import { Unicode11Addon } from "@xterm/addon-unicode11";
import type { IUnicodeVersionProvider, Terminal } from "@xterm/xterm";

const VERSION = "hawse";

/** Wide characters of Unicode 12 to 16 except emoji, which the browser's tables contain: pairs of first and last. */
const WIDE = [
  0x2630, 0x2637, 0x268a, 0x268f, 0x2e3a, 0x2e3b, 0x2ffc, 0x2fff, 0x31bb, 0x31bf, 0x31e4, 0x31e5, 0x31ef,
  0x31ef, 0x4dc0, 0x4dff, 0x16ff0, 0x16ff6, 0x187f8, 0x187ff, 0x18af3, 0x18cd5, 0x18cff, 0x18df2, 0x1aff0,
  0x1b155, 0x1d300, 0x1d356, 0x1d360, 0x1d376,
];
const EMOJI = /\p{Emoji_Presentation}/u;
const MARK = /[\p{Mn}\p{Me}]/u;

/** Makes `terminal` use these widths; needs `allowProposedApi`. */
export function useWidths(terminal: Terminal): void {
  terminal.unicode.register(widths());
  terminal.unicode.activeVersion = VERSION;
}

export function widths(): IUnicodeVersionProvider {
  const old = addonProvider();
  const cache = new Map<number, 0 | 1 | 2>();
  const wcwidth = (codepoint: number): 0 | 1 | 2 => {
    // The most common characters have not changed.
    if (codepoint < 0x300) return old.wcwidth(codepoint);
    let width = cache.get(codepoint);
    if (width === undefined) {
      width = newer(codepoint) ?? old.wcwidth(codepoint);
      cache.set(codepoint, width);
    }
    return width;
  };
  return {
    version: VERSION,
    wcwidth,
    // The add-on's joining of zero-width characters, with the newer widths.
    charProperties: (codepoint, preceding) =>
      old.charProperties.call({ wcwidth, version: VERSION }, codepoint, preceding),
  };
}

function newer(codepoint: number): 0 | 2 | undefined {
  for (let i = 0; i < WIDE.length; i += 2) {
    if (codepoint >= (WIDE[i] as number) && codepoint <= (WIDE[i + 1] as number)) return 2;
  }
  const char = String.fromCodePoint(codepoint);
  if (EMOJI.test(char)) return 2;
  if (MARK.test(char) || (codepoint >= 0xd7b0 && codepoint <= 0xd7ff)) return 0;
  return undefined;
}

/** The add-on only registers itself with a terminal, so this passes it a minimal one. */
function addonProvider(): IUnicodeVersionProvider {
  let provider: IUnicodeVersionProvider | undefined;
  const register = (given: IUnicodeVersionProvider) => {
    provider = given;
  };
  new Unicode11Addon().activate({ unicode: { register } } as unknown as Terminal);
  if (!provider) throw new Error("the Unicode add-on registered no provider");
  return provider;
}
