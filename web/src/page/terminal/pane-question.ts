// A question shown over a terminal. It doesn't take the keyboard focus, because the user may be typing.

import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";
import { preferences } from "../settings/preferences";

export interface Answer {
  readonly label: string;
  readonly run: () => void;
}

/** Shows a question until it is answered or disposed of. The first answer is the recommended one. */
export function askInPane(stage: HTMLElement, text: string, answers: readonly Answer[]): Disposable {
  const disposables = new DisposableList();
  const question = make("div", "notice question", make("span", "", text));
  question.role = "status";
  for (const [index, { label, run }] of answers.entries()) {
    const button = make("button", index === 0 ? "primary" : "plain", label);
    button.type = "button";
    disposables.listen(button, "click", () => {
      disposables.dispose();
      run();
    });
    question.append(button);
  }
  stage.append(question);
  disposables.defer(() => question.remove());
  return disposables;
}

/**
 * Asks whether the page may show notifications, because browsers ask for permission only after a click. `text` states
 * why the page is asking.
 */
export function askForNotifications(stage: HTMLElement, text: string): Disposable {
  return askInPane(stage, text, [
    { label: "Allow notifications", run: () => void Notification.requestPermission() },
    { label: "Never", run: () => preferences().update({ notify: false }) },
    { label: "Not now", run: () => {} },
  ]);
}

/**
 * Shows a notification; clicking it focuses the page and calls `show`. Returns null in browsers where pages can't show
 * notifications even with permission, such as Chrome on Android.
 */
export function showNotification(
  title: string,
  options: NotificationOptions,
  show: () => void,
): Notification | null {
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      window.focus();
      show();
      notification.close();
    };
    return notification;
  } catch {
    return null;
  }
}
