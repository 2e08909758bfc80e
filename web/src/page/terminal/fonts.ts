// The fonts that the first prompt does not need. A separate chunk, so that they do not delay the prompt.

import "../style/inter.css";

/** Loads the terminals' bold and italic fonts before their first character is drawn. */
export function loadFonts(): void {
  for (const style of ["700", "italic 400"])
    void document.fonts.load(`${style} 14px "JetBrains Mono"`).catch(() => {}); // the fallback font is used
}
