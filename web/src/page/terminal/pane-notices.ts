// The notices shown over the screen of a terminal that has failed.

import { DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import { errorDetail } from "../../client/error-text";
import type { HawseError } from "../../wire/errors";
import { failureTitle, type Status } from "../status";

export interface NoticeActions {
  /** Called to try again after a failure with this error. */
  again: (reason: HawseError | undefined) => void;
  showSandboxes: () => void;
  /** Id of the sandbox. */
  readonly sandbox: string;
}

export class PaneNotices {
  readonly #disposables = new DisposableList();
  readonly #stage: HTMLElement;
  readonly #failure = make("section", "veil failure");
  readonly #title = make("h2", "");
  readonly #sandbox: string;
  readonly #failureText = make("p", "failure-text");
  readonly #failureCode = make("code", "failure-code");
  readonly #again = button("primary", "Try again");
  #reason: HawseError | undefined;
  #shown: Status["kind"] | undefined;

  constructor(stage: HTMLElement, actions: NoticeActions) {
    this.#stage = stage;
    this.#sandbox = actions.sandbox;
    const sandboxes = button("plain failure-sandboxes", "Sandboxes");
    const code = make("p", "code", this.#failureCode);
    this.#failure.role = "alert";
    this.#failure.append(make("div", "card", this.#title, this.#failureText, code, this.#again, sandboxes));
    this.#failure.hidden = true;
    stage.append(this.#failure);
    this.#disposables.listen(this.#again, "click", () => actions.again(this.#reason));
    this.#disposables.listen(sandboxes, "click", actions.showSandboxes);
    this.#disposables.defer(() => this.#failure.remove());
  }

  show({ kind, text, error }: Status): void {
    setText(this.#failureText, kind === "failed" ? text : "");
    setText(this.#failureCode, error && error.code !== "stopped" ? errorDetail(error, text) : "");
    setText(this.#again, error?.code === "stopped" ? "Start the sandbox" : "Try again");
    setText(this.#title, failureTitle(error, this.#sandbox));
    this.#reason = error;
    this.#failure.hidden = kind !== "failed";
    if (kind === "failed" && this.#shown !== kind) this.#again.focus();
    this.#shown = kind;
  }

  /** Moves notices to the half of the pane that doesn't contain the cursor. */
  avoid(cursorInUpperHalf: boolean): void {
    this.#stage.classList.toggle("notices-below", cursorInUpperHalf);
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

function button(className: string, label: string): HTMLButtonElement {
  const element = make("button", className, label);
  element.type = "button";
  return element;
}
