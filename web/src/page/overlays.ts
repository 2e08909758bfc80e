// The overlays: the notice of a lost connection, the end of the shell, sign-in, and failures. They do not change
// the layout and do not cover the line with the cursor.

import { DisposableList, Emitter } from "../base/disposables";
import { byId, setText, within } from "./dom";
import type { Status, StatusKind } from "./status";

/** Milliseconds before the notice appears: most interruptions are shorter and need no notice. */
export const NOTICE_AFTER = 400;
/** Milliseconds that a toast is shown. */
const TOAST_TIME = 2_500;
/** The statuses that show the notice of a lost connection. */
const DISCONNECTED: ReadonlySet<StatusKind> = new Set(["reconnecting", "offline"]);

export class Overlays {
  readonly #disposables = new DisposableList();
  readonly #onSignIn = new Emitter<string>();
  readonly #onRetry = new Emitter<void>();
  readonly #onRestart = new Emitter<void>();
  readonly #onKind = new Emitter<StatusKind>();
  readonly #token = byId<HTMLInputElement>("token");
  #kind: StatusKind | undefined;
  #bannerTimer: ReturnType<typeof setTimeout> | undefined;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#disposables.listen(byId("retry"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("again"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("restart"), "click", () => this.#onRestart.emit());
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
  readonly onRestart = this.#onRestart.on;
  /** The status kind has changed. */
  readonly onKind = this.#onKind.on;

  show(status: Status): void {
    const { kind, text, error } = status;
    setText(within(byId("banner"), "[data-text]"), text);
    setText(within(byId("ended"), "[data-text]"), capitalize(text));
    setText(byId("sign-in-error"), kind === "signed-out" ? text : "");
    setText(byId("failure-text"), text);
    setText(
      byId("failure-code"),
      error && error.message !== text ? `${error.code}: ${error.message}` : (error?.code ?? ""),
    );
    setText(byId("again"), error?.code === "stopped" ? "Start the sandbox" : "Try again");
    if (kind !== this.#kind) this.#enter(kind, status);
  }

  /** A viewer cannot start a shell, but can attach to one that an owner has started. */
  showRole(readOnly: boolean): void {
    setText(within(byId("restart"), "[data-label]"), readOnly ? "Try again" : "New shell");
  }

  /** Moves notices to the half of the screen without the cursor. */
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
    byId("ended").hidden = kind !== "ended";
    byId("sign-in").hidden = kind !== "signed-out";
    byId("failure").hidden = kind !== "failed";
    this.#showBanner(DISCONNECTED.has(kind), wasDisconnected);
    // Announce the end of an interruption, but not its start, which may be too short to matter.
    if (!DISCONNECTED.has(kind))
      setText(byId("announcer"), kind === "signed-out" ? "Signed out" : status.text);
    const modal = kind === "signed-out" || kind === "failed";
    for (const element of document.querySelectorAll<HTMLElement>("#terminal, .bar, .tabs, #keys"))
      element.inert = modal;
    if (kind === "signed-out") this.#token.focus();
    if (kind === "failed") byId("again").focus();
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

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
