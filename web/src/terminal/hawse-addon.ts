// An xterm.js add-on that connects a terminal to a sandbox's terminal.

import type { ITerminalAddon, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList, Emitter } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { GatewayClient } from "../client/client";
import { HawseError } from "../wire/errors";
import { type AttachedTerminal, attachXterm } from "./attach-xterm";
import { type Size, SizeProposer } from "./size-proposer";
import type { TerminalAddress, TerminalChannel } from "./terminal-channel";
import { correctXterm } from "./xterm-fixes";

export interface HawseAddonOptions extends Partial<TerminalAddress> {
  /** Returns the size that fits on the page, for example `() => fitAddon.proposeDimensions()`. */
  fit?: () => Size | undefined;
  /** The user's name, as shown to other viewers. */
  name?: string;
  /**
   * Asks before several lines are pasted into a program without bracketed paste, which would run each of them. If
   * omitted, they're pasted without asking.
   */
  mayPaste?: (text: string) => boolean | Promise<boolean>;
}

/**
 * Connects an xterm.js terminal to the terminal `id` ("main") of `sandbox` ("local"), and starts it if necessary.
 *
 *     terminal.loadAddon(new HawseAddon(client, { sandbox: "local", id: "main" }));
 */
export class HawseAddon implements ITerminalAddon {
  readonly #client: GatewayClient;
  readonly #options: HawseAddonOptions;
  readonly #address: TerminalAddress;
  readonly #viewer = randomId();
  readonly #disposables = new DisposableList();
  readonly #onError = new Emitter<HawseError>();
  #attached: AttachedTerminal | undefined;

  constructor(client: GatewayClient, options: HawseAddonOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#address = { sandbox: options.sandbox ?? "local", id: options.id ?? "main" };
  }

  /** Called when the terminal couldn't be started. */
  readonly onError: (listener: (error: HawseError) => void) => Disposable = this.#onError.on;

  /** The terminal's stream, with its state; undefined until xterm.js has loaded the add-on. */
  get channel(): TerminalChannel | undefined {
    return this.#attached?.channel;
  }

  activate(terminal: Terminal): void {
    const { name } = this.#options;
    const viewer = { key: this.#viewer, kind: "person" as const, ...(name === undefined ? {} : { name }) };
    const introduce = () => ({ viewer, ...this.#options.fit?.() });
    const { mayPaste } = this.#options;
    const attached = attachXterm(terminal, this.#client, this.#address, {
      introduce,
      ...(mayPaste && { mayPaste }),
    });
    this.#attached = attached;
    this.#disposables.add(correctXterm(terminal), attached, this.#proposeSizes(terminal, attached.channel));
    void this.#start(terminal, attached.channel);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #start(terminal: Terminal, channel: TerminalChannel): Promise<void> {
    const { sandbox, id } = this.#address;
    const { cols, rows } = this.#options.fit?.() ?? terminal;
    try {
      await this.#client.call("terminal.create", { id, cols, rows }, { sandbox, key: randomId() });
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      // A viewer may not start a terminal, but may attach to a running one.
      if (error.code !== "forbidden") return this.#onError.emit(error);
    }
    channel.attach();
  }

  #proposeSizes(terminal: Terminal, channel: TerminalChannel): Disposable {
    const disposables = new DisposableList();
    const { fit } = this.#options;
    if (!fit) return disposables;
    const proposer = new SizeProposer({
      fitting: fit,
      current: () => terminal,
      inUse: () => !document.hidden,
      propose: size => this.#resize(size, channel),
    });
    disposables.add(
      proposer,
      channel.onState(({ phase }) => phase === "live" && proposer.nudge()),
    );
    const host = terminal.element?.parentElement;
    if (!host) return disposables;
    const observer = new ResizeObserver(() => proposer.nudge());
    observer.observe(host);
    disposables.defer(() => observer.disconnect());
    return disposables;
  }

  #resize(size: Size, channel: TerminalChannel): void {
    const { sandbox, id } = this.#address;
    if (channel.state.phase !== "live" || channel.people.readOnly) return;
    const call = this.#client.call("terminal.resize", { id, viewer: this.#viewer, ...size }, { sandbox });
    // If the call fails, the size stays the same, and the next resize of the page proposes a size again.
    call.catch(() => {});
  }
}
