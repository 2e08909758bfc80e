// Describes recordings for the list, and filters them by text.

import { formatSize, formatTime } from "../../base/format";
import { visible } from "../../base/visible";
import type { RecordingInfo } from "../../wire/methods";

export function titleOf({ title, terminal, desktop }: RecordingInfo): string {
  return visible(title || (desktop ? `Desktop ${desktop}` : `Terminal ${terminal}`));
}

export function describe(info: RecordingInfo): string {
  const started = new Date(info.started * 1000);
  const facts = [
    info.state === "recording" ? "recording now" : formatTime(info.duration),
    started.toLocaleString([], { dateStyle: "short", timeStyle: "short" }),
    formatSize(info.size),
  ];
  if (info.markers) facts.push(info.markers === 1 ? "1 marker" : `${info.markers} markers`);
  if (info.input) facts.push("with input");
  if (info.truncated) facts.push("incomplete");
  // With no-break spaces in the facts, lines can be broken only between them.
  return facts.map(fact => fact.replaceAll(" ", "\u00a0")).join(" · ");
}

/** Returns the recordings whose title or terminal contains all words of `text`. */
export function findRecordings(recordings: readonly RecordingInfo[], text: string): RecordingInfo[] {
  const words = text.toLowerCase().split(/\s+/);
  return recordings.filter(info => {
    const name =
      `${titleOf(info)} ${info.desktop ? `desktop ${info.desktop}` : info.terminal} ${info.id}`.toLowerCase();
    return words.every(word => name.includes(word));
  });
}
