// Texts that others have chosen, such as names of files, for display in one line.

/**
 * Control characters; those that change the direction of the text after them, which can hide what a name ends with; and
 * those without a width, which can make a name look like another one. The joiners are not among them: words of Persian and
 * of Indian languages, and many emoji, need them.
 */
const HIDDEN =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/gu;

/** Returns `name` with � in place of each character that is not seen but changes what is seen. */
export function visible(name: string): string {
  return name.replace(HIDDEN, "\ufffd");
}

/** As `visible`, for text of several lines: its line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN, char => (char === "\n" || char === "\t" ? char : "\ufffd"));
}
