// The custom element `<hawse-terminal gateway="https://gateway.example/" token="…" sandbox="local" terminal="main">`
// shows a terminal on a page. It needs xterm.js and its style sheet (`import "@xterm/xterm/css/xterm.css"`).

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { HawseClient } from "./index";
import { HawseAddon } from "./xterm";

export class HawseTerminalElement extends HTMLElement {
  static readonly observedAttributes = ["gateway", "token", "sandbox", "terminal"];
  /** Whether an attribute has changed since the last start. */
  #stale = false;
  #terminal: Terminal | undefined;
  #client: HawseClient | undefined;

  /** The xterm.js terminal, while the element is in a document. */
  get terminal(): Terminal | undefined {
    return this.#terminal;
  }

  /** The client, while the element is in a document. */
  get client(): HawseClient | undefined {
    return this.#client;
  }

  connectedCallback(): void {
    this.#start();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  /** Restarts the terminal. If several attributes are set together, it restarts only once. */
  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (before === now || this.#stale || !this.#terminal) return;
    this.#stale = true;
    queueMicrotask(() => {
      this.#stale = false;
      if (!this.#terminal) return;
      this.#stop();
      this.#start();
    });
  }

  #start(): void {
    const token = this.getAttribute("token") ?? undefined;
    const client = new HawseClient({ base: this.getAttribute("gateway") ?? ".", token });
    const terminal = new Terminal({ allowProposedApi: true, scrollback: 5_000 });
    const fit = new FitAddon();
    if (getComputedStyle(this).display === "inline") this.style.display = "block";
    terminal.loadAddon(fit);
    terminal.open(this);
    fit.fit();
    client.connect();
    const addon = new HawseAddon(client, {
      sandbox: this.getAttribute("sandbox") ?? "local",
      id: this.getAttribute("terminal") ?? "main",
      fit: () => fit.proposeDimensions(),
    });
    addon.onError(error => this.#failed(error));
    client.onState(state => {
      if (state.phase === "signed-out" || state.phase === "failed") this.#failed(state.reason);
    });
    terminal.loadAddon(addon);
    this.#terminal = terminal;
    this.#client = client;
  }

  #stop(): void {
    this.#terminal?.dispose(); // also disposes of its add-ons
    this.#client?.close();
    this.#terminal = undefined;
    this.#client = undefined;
    this.replaceChildren();
  }

  /** Dispatches `hawse-error`. Its `detail` is the HawseError, or undefined if the token is missing. */
  #failed(error: unknown): void {
    this.dispatchEvent(new CustomEvent("hawse-error", { detail: error, bubbles: true }));
  }
}

if (!customElements.get("hawse-terminal")) customElements.define("hawse-terminal", HawseTerminalElement);
