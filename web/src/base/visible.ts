// Prepares texts chosen by other users or programs, such as file names, for display on one line.

/**
 * Control characters, characters that change the direction of the text that follows (which can hide the end of a name),
 * and zero-width characters (which can make two names look alike). Zero-width joiners aren't included, because Persian,
 * Indian languages and many emoji need them.
 */
const HIDDEN =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/gu;

/** Returns `name` with � in place of each invisible character that changes how the name is displayed. */
export function visible(name: string): string {
  return name.replace(HIDDEN, "\ufffd");
}

/** Like `visible`, but keeps line ends and tabs. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN, char => (char === "\n" || char === "\t" ? char : "\ufffd"));
}
