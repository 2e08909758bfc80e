// Messages from programs: notifications (OSC 9 from iTerm2, OSC 777 from rxvt) and progress (OSC 9;4 from ConEmu).

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { Progress } from "../../frame/pane";
import { preferences } from "../settings/preferences";
import { askForNotifications, showNotification } from "./pane-question";

/** Maximum number of notifications per `PERIOD`; any others are dropped. */
const MAX_NOTIFICATIONS = 3;
/** Milliseconds. */
const PERIOD = 10_000;
/** Maximum length of a text in characters. */
const MAX_TEXT = 200;
/**
 * How long progress is shown without a new report before it's removed, in milliseconds; the program may have been
 * killed.
 */
const PROGRESS_TIMEOUT = 120_000;

export interface ProgramNotice {
  readonly title: string;
  readonly body: string;
}

export interface NoticeOptions {
  /** The terminal's name, used for notifications without a title. */
  title: () => string;
  /** Whether the user can see the terminal. */
  visible: () => boolean;
  toast: (text: string) => void;
  /** Called when the user has clicked a notification. */
  show: () => void;
  progress: (progress: Progress | undefined) => void;
}

/** Returns the notification in an OSC 9 sequence; undefined for ConEmu commands, which start with a number. */
export function noticeOf9(data: string): ProgramNotice | undefined {
  if (/^\d+(;|$)/.test(data)) return undefined;
  const body = clean(data);
  return body ? { title: "", body } : undefined;
}

/** Returns the notification in an OSC 777 sequence: `notify;TITLE;BODY`. */
export function noticeOf777(data: string): ProgramNotice | undefined {
  const [command, title = "", ...body] = data.split(";");
  const notice = { title: clean(title), body: clean(body.join(";")) };
  return command === "notify" && (notice.title || notice.body) ? notice : undefined;
}

const KINDS = ["none", "normal", "error", "busy", "paused"] as const;

/**
 * Returns the progress from an OSC 9 sequence `4;STATE;PERCENT`; null if it ends the progress, undefined for other
 * sequences.
 */
export function progressOf(data: string): Progress | null | undefined {
  const [, state, percent] = /^4;(\d)(?:;(\d{1,9})?)?$/.exec(data) ?? [];
  const kind = KINDS[Number(state)];
  if (kind === undefined) return undefined;
  return kind === "none" ? null : { kind, percent: Math.min(100, Number(percent ?? 0)) };
}

/** Allows `MAX_NOTIFICATIONS` per `PERIOD`. Times are in milliseconds. */
export class RateLimit {
  #times: number[] = [];

  allow(now: number): boolean {
    this.#times = this.#times.filter(time => now - time < PERIOD);
    if (this.#times.length >= MAX_NOTIFICATIONS) return false;
    this.#times.push(now);
    return true;
  }
}

export class ProgramNotices implements Disposable {
  readonly #stage: HTMLElement;
  readonly #options: NoticeOptions;
  readonly #disposables = new DisposableList();
  readonly #limit = new RateLimit();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #question: Disposable | undefined;

  constructor(stage: HTMLElement, terminal: Terminal, options: NoticeOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#disposables.add(
      terminal.parser.registerOscHandler(9, data => {
        const progress = progressOf(data);
        if (progress === undefined) this.#notify(noticeOf9(data));
        else this.#progress(progress ?? undefined);
        return true;
      }),
      terminal.parser.registerOscHandler(777, data => {
        this.#notify(noticeOf777(data));
        return true;
      }),
    );
    this.#disposables.defer(() => clearTimeout(this.#timer));
    this.#disposables.defer(() => this.#question?.dispose());
  }

  /** Called when the program has ended, which also ends its progress. */
  endProgress(): void {
    this.#progress(undefined);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #progress(progress: Progress | undefined): void {
    clearTimeout(this.#timer);
    if (progress) this.#timer = setTimeout(() => this.#options.progress(undefined), PROGRESS_TIMEOUT);
    this.#options.progress(progress);
  }

  #notify(notice: ProgramNotice | undefined): void {
    if (!notice || !preferences().value.notify || !this.#limit.allow(performance.now())) return;
    const { visible, toast } = this.#options;
    if (visible()) toast([notice.title, notice.body].filter(Boolean).join(": "));
    else if (typeof Notification === "undefined") return;
    else if (Notification.permission === "default") this.#ask();
    else if (Notification.permission === "granted") this.#show(notice);
  }

  #show({ title, body }: ProgramNotice): void {
    const name = this.#options.title();
    showNotification(title || name, { body, tag: `hawse ${name}` }, this.#options.show);
  }

  #ask(): void {
    this.#question?.dispose();
    this.#question = askForNotifications(this.#stage, "A program has tried to notify you");
  }
}

/** Returns a program's text on one line, without control characters. */
function clean(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
}
