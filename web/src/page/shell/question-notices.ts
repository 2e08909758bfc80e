// Shows that a program is asking a question: in the page's icon, and in a notification while the page is in the background.

import { effect, type ReadonlySignal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { visible } from "../../base/visible";
import { preferences } from "../settings/preferences";
import { askForNotifications, showNotification } from "../terminal/pane-question";
import { RateLimit } from "../terminal/program-notices";
import { labelOf, type Question } from "./terminal-list";

const ICON = "mark.svg";
const WAITING_ICON = "mark-waiting.svg";
/** Maximum length of a prompt in a notification, in characters. */
const MAX_PROMPT = 200;

export interface QuestionNoticesOptions {
  /** The element where the user is asked for permission. */
  stage: HTMLElement;
  /** The terminals whose programs are asking a question, longest wait first. */
  questions: ReadonlySignal<readonly Question[]>;
  /** Whether the user can only view, and so can't answer. */
  readOnly: ReadonlySignal<boolean>;
  /** Called with a terminal's id when the user has clicked its notification. */
  show: (terminal: string) => void;
}

export class QuestionNotices implements Disposable {
  readonly #options: QuestionNoticesOptions;
  readonly #disposables = new DisposableList();
  readonly #limit = new RateLimit();
  /** The request for permission. The user is asked once. */
  #permission: Disposable | undefined;
  /** The notifications, keyed by question; null if none was shown for that question. */
  readonly #shown = new Map<string, Notification | null>();

  constructor(options: QuestionNoticesOptions) {
    this.#options = options;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const setIcon = (name: string) => icon?.setAttribute("href", `./${name}`);
    this.#disposables.defer(() => setIcon(ICON));
    this.#disposables.defer(
      effect(() => {
        const questions = options.questions.value;
        setIcon(questions.length ? WAITING_ICON : ICON);
        this.#update(questions);
      }),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
    this.#permission?.dispose();
    for (const notification of this.#shown.values()) notification?.close();
  }

  /** Notifies the user of new questions, and withdraws notifications once their questions have been answered. */
  #update(questions: readonly Question[]): void {
    const current = new Map(questions.map(question => [keyOf(question), question]));
    for (const [key, notification] of this.#shown) {
      if (current.has(key)) continue;
      notification?.close();
      this.#shown.delete(key);
    }
    for (const [key, question] of current)
      if (!this.#shown.has(key)) this.#shown.set(key, this.#notify(question));
  }

  #notify(question: Question): Notification | null {
    const inView = !document.hidden && document.hasFocus();
    if (inView || this.#options.readOnly.peek() || !preferences().value.notify) return null;
    if (typeof Notification === "undefined" || !this.#limit.allow(performance.now())) return null;
    if (Notification.permission === "default")
      this.#permission ??= askForNotifications(this.#options.stage, "A program has waited for your answer");
    if (Notification.permission !== "granted") return null;
    const name = labelOf(question.id, question.title, this.#options.questions.peek());
    const tag = `hawse question ${question.id}`;
    const options = { body: promptOf(question), tag };
    return showNotification(`${name} is waiting for input`, options, () => this.#options.show(question.id));
  }
}

/** Identifies a question: a program's next question in the same terminal counts as a different question. */
function keyOf({ id, instance, waiting }: Question): string {
  return `${id} ${instance} ${waiting?.since}`;
}

/** Returns the text of a notification: the program's prompt on one line. */
export function promptOf({ waiting }: Question): string {
  const prompt = visible(waiting?.prompt ?? "")
    .slice(0, MAX_PROMPT)
    .trim();
  return (
    prompt || (waiting?.kind === "secret" ? "A program asks for a password" : "A program asks for a line")
  );
}
