// The fonts that aren't needed for the first prompt. They're in a separate chunk so that they don't delay the prompt.

import "../style/inter.css";

/** Loads the terminals' bold and italic fonts before their first characters are drawn. */
export function loadFonts(): void {
  // If a font can't be loaded, the terminals use a fallback font.
  for (const style of ["700", "italic 400"])
    void document.fonts.load(`${style} 14px "JetBrains Mono"`).catch(() => {});
}
