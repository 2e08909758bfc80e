// The overlays: the lost-connection notice, sign-in, connection failures, and short messages. They don't change the
// layout or cover the cursor's line.

import { DisposableList, Emitter } from "../base/disposables";
import { byId, setText, within } from "../base/dom";
import { errorDetail } from "../client/error-text";
import type { Status, StatusKind } from "./status";

/** How long to wait before the notice appears, in milliseconds; most interruptions are shorter and don't need one. */
export const NOTICE_AFTER = 400;
/** How long a toast is shown, in milliseconds. */
const TOAST_TIME = 2_500;
/** While the status is one of these, the lost-connection notice is shown. */
const DISCONNECTED: ReadonlySet<StatusKind> = new Set(["reconnecting", "offline"]);

export class Overlays {
  readonly #disposables = new DisposableList();
  readonly #onSignIn = new Emitter<string>();
  readonly #onRetry = new Emitter<void>();
  readonly #onKind = new Emitter<StatusKind>();
  readonly #token = byId<HTMLInputElement>("token");
  #kind: StatusKind | undefined;
  #bannerTimer: ReturnType<typeof setTimeout> | undefined;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#disposables.listen(byId("retry"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("again"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("sign-in"), "submit", event => {
      event.preventDefault();
      const token = this.#token.value.trim();
      if (token) this.#onSignIn.emit(token);
      this.#token.value = "";
    });
    this.#disposables.defer(() => clearTimeout(this.#bannerTimer));
    this.#disposables.defer(() => clearTimeout(this.#toastTimer));
  }

  readonly onSignIn = this.#onSignIn.on;
  readonly onRetry = this.#onRetry.on;
  /** Called when the kind of status has changed. */
  readonly onKind = this.#onKind.on;

  /** `connectionFailed` is true if the connection itself has failed; a terminal shows its own failures. */
  show(status: Status, connectionFailed: boolean): void {
    const { kind, text, error } = status;
    setText(within(byId("banner"), "[data-text]"), text);
    setText(byId("sign-in-error"), kind === "signed-out" ? text : "");
    setText(byId("failure-text"), text);
    setText(byId("failure-code"), error ? errorDetail(error, text) : "");
    byId("failure").hidden = !connectionFailed;
    const modal = kind === "signed-out" || connectionFailed;
    for (const element of document.querySelectorAll<HTMLElement>(
      ".strip, .panes, .rail-host, .status-line, #keys",
    ))
      element.inert = modal;
    if (kind !== this.#kind) this.#enter(kind, status);
    if (connectionFailed && !byId("failure").contains(document.activeElement)) byId("again").focus();
  }

  /** Moves notices to the half of the screen that doesn't contain the cursor. */
  avoid(cursorInUpperHalf: boolean): void {
    byId("stage").classList.toggle("notices-below", cursorInUpperHalf);
  }

  toast(text: string): void {
    const toast = byId("toast");
    setText(toast, text);
    toast.hidden = false;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => {
      toast.hidden = true;
    }, TOAST_TIME);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #enter(kind: StatusKind, status: Status): void {
    const wasDisconnected = this.#kind !== undefined && DISCONNECTED.has(this.#kind);
    this.#kind = kind;
    document.documentElement.dataset.state = kind;
    byId("sign-in").hidden = kind !== "signed-out" || status.linkEnded === true;
    byId("link-ended").hidden = !status.linkEnded;
    this.#showBanner(DISCONNECTED.has(kind), wasDisconnected);
    // Screen readers announce the end of an interruption, but not its start, because many interruptions are very short.
    if (!DISCONNECTED.has(kind))
      setText(byId("announcer"), kind === "signed-out" && !status.linkEnded ? status.label : status.text);
    if (kind === "signed-out" && !status.linkEnded) this.#token.focus();
    this.#onKind.emit(kind);
  }

  #showBanner(disconnected: boolean, wasDisconnected: boolean): void {
    const banner = byId("banner");
    if (!disconnected) {
      clearTimeout(this.#bannerTimer);
      banner.hidden = true;
    } else if (!wasDisconnected) {
      this.#bannerTimer = setTimeout(() => {
        banner.hidden = false;
        setText(byId("announcer"), "Connection lost. Reconnecting.");
      }, NOTICE_AFTER);
    }
  }
}
