// The fonts that are not needed for the first prompt. A chunk of its own, so that they take no bandwidth from what is.

import "../style/inter.css";

/** Loads the bold and the italic font of the terminals before their first character is drawn. */
export function loadFonts(): void {
  for (const style of ["700", "italic 400"])
    void document.fonts.load(`${style} 14px "JetBrains Mono"`).catch(() => {}); // the fallback is drawn
}
