// The preview of a running sandbox on its card: the last lines of the most recently used terminal, and the people
// there. It polls only while the card is visible, and requests a screen only if the terminal has printed output.

import { type Disposable, DisposableList } from "../base/disposables";
import { make, setText } from "../base/dom";
import { visibleLines } from "../base/visible";
import type { SandboxHandle } from "../client/sandbox";
import { describe, initials } from "../page/people/people-bar";
import { HawseError } from "../wire/errors";
import type { Participant, SandboxInfo, TerminalInfo } from "../wire/methods";
import { faces, lastUsed, preview } from "./card-contents";

/** Milliseconds between polls. */
const INTERVAL = 3_000;
/** Timeout for a call, in seconds. */
const TIMEOUT = 5;

const INSTEAD: Partial<Record<SandboxInfo["state"], string>> = {
  stopped: "Stopped. Its files are kept.",
  sleeping: "Sleeping. Opening it wakes it.",
  paused: "Paused.",
  failed: "It could not be started.",
  stopping: "Stopping…",
  deleting: "Deleting…",
  starting: "Starting…",
};

export class CardPreview implements Disposable {
  readonly screen = make("a", "card-preview");
  readonly people = make("ul", "faces");
  readonly #box: SandboxHandle;
  readonly #disposables = new DisposableList();
  readonly #text = make("pre", "");
  readonly #name = make("small", "");
  #offsets: ReadonlyMap<string, number> = new Map();
  #shown = "";
  #state: SandboxInfo["state"] | undefined;
  #inView = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;

  /** `href` is the address that opens when the preview is clicked. */
  constructor(box: SandboxHandle, href: string) {
    this.#box = box;
    this.screen.href = href;
    this.screen.tabIndex = -1; // keyboard users skip this link, because the sandbox's name links to the same page
    this.screen.ariaHidden = "true";
    this.screen.append(this.#text, this.#name);
    this.people.ariaLabel = "Viewers";
    const observer = new IntersectionObserver(entries => {
      this.#inView = entries.at(-1)?.isIntersecting === true;
      this.#schedule(0);
    });
    observer.observe(this.screen);
    this.#disposables.defer(() => observer.disconnect());
    this.#disposables.listen(document, "visibilitychange", () => this.#schedule(0));
    this.#disposables.defer(() => clearTimeout(this.#timer));
  }

  set state(state: SandboxInfo["state"]) {
    if (state === this.#state) return;
    this.#state = state;
    this.#shown = "";
    this.screen.classList.toggle("words", state !== "running");
    if (state === "running") this.#schedule(0);
    else {
      this.#show(INSTEAD[state] ?? "", "");
      this.#showPeople([], 0);
    }
  }

  dispose(): void {
    this.#state = undefined;
    this.#disposables.dispose();
  }

  get #wanted(): boolean {
    return this.#state === "running" && this.#inView && !document.hidden;
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted) this.#timer = setTimeout(() => void this.#look(), delay);
  }

  async #look(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const [{ terminals }, { viewers, total }] = await Promise.all([
        this.#box.terminal.list({}, { timeout: TIMEOUT }),
        this.#box.terminal.viewers({}, { timeout: TIMEOUT }),
      ]);
      const used = lastUsed(terminals, viewers, this.#offsets);
      this.#offsets = new Map(terminals.map(({ instance, offset }) => [instance, offset]));
      if (this.#state === "running") {
        const { shown, more } = faces(viewers, total);
        this.#showPeople(shown, more);
      }
      await this.#showTerminal(used);
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem; // if a call fails, the next poll tries again
    } finally {
      this.#busy = false;
      this.#schedule(INTERVAL);
    }
  }

  async #showTerminal(terminal: TerminalInfo | undefined): Promise<void> {
    const version = terminal ? `${terminal.instance} ${terminal.offset} ${terminal.cols}` : "none";
    if (version === this.#shown) return;
    const screen = terminal && (await this.#box.terminal.screen({ id: terminal.id }, { timeout: TIMEOUT }));
    if (this.#state !== "running") return;
    this.#shown = version;
    const text = screen ? preview(screen.content) : "";
    this.screen.classList.toggle("words", !text);
    this.#show(text || "No terminal is open.", text ? (terminal?.title ?? terminal?.id ?? "") : "");
  }

  #show(text: string, name: string): void {
    const shown = visibleLines(text);
    if (this.#text.textContent !== shown) this.#text.textContent = shown;
    setText(this.#name, name);
  }

  #showPeople(shown: readonly Participant[], more: number): void {
    const circles = shown.map(person => {
      const element = make("li", person.kind === "agent" ? "circle agent" : "circle", initials(person.name));
      element.style.setProperty("--color", person.color);
      element.title = describe(person);
      element.ariaLabel = element.title;
      return element;
    });
    if (more > 0) circles.push(make("li", "circle more", `+${more}`));
    this.people.replaceChildren(...circles);
    this.people.hidden = circles.length === 0;
  }
}
