// A question in a dialog, asked before something is lost or run.

import { make } from "../base/dom";

export interface Question {
  readonly title: string;
  readonly text: string;
  /** The text that the question is about, shown unchanged and on several lines. */
  readonly quote?: string;
  /** Labels of the two answers. `no` has the focus, and Escape chooses it. */
  readonly yes: string;
  readonly no: string;
  /** Whether answering `yes` destroys something. */
  readonly danger?: boolean;
  /** Label for a check box that applies the answer to later questions. */
  readonly remember?: string;
}

export interface Answer {
  readonly yes: boolean;
  readonly remember: boolean;
}

/** Shows the question and resolves to the answer. */
export function ask(question: Question): Promise<Answer> {
  const before = document.activeElement;
  const title = make("h2", "", question.title);
  title.id = "question-title";
  const text = make("p", "", question.text);
  text.id = "question-text";
  const no = make("button", "plain", question.no);
  const yes = make("button", question.danger ? "danger" : "primary", question.yes);
  no.type = yes.type = "button";
  const dialog = make("dialog", "card question-card", title, text);
  dialog.role = "alertdialog";
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("aria-describedby", text.id);
  if (question.quote) dialog.append(make("pre", "", ...linesOf(question.quote)));
  const box = make("input", "");
  box.type = "checkbox";
  if (question.remember) dialog.append(make("label", "", box, question.remember));
  dialog.append(make("div", "buttons", no, yes));
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => dialog.close("yes"));
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
  return new Promise(resolve => {
    dialog.addEventListener(
      "close",
      () => {
        dialog.remove();
        if (before instanceof HTMLElement && before.isConnected) before.focus();
        resolve({ yes: dialog.returnValue === "yes", remember: box.checked });
      },
      { once: true },
    );
  });
}

function linesOf(text: string): (Node | string)[] {
  return text
    .split(/\r\n|[\r\n]/)
    .flatMap((line, index) => (index ? [document.createTextNode("\n"), line] : [line]));
}
