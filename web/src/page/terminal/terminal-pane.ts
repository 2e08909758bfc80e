// A pane with a terminal: its emulator, its stream and its other parts. A page can have several of these panes.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";
import type { SandboxStarting } from "../../client/channels";
import type { AppContext, Pane, PaneState, PaneStatus, Progress } from "../../frame/pane";
import { TERMINAL } from "../../frame/workspace";
import { type AttachedTerminal, attachXterm } from "../../terminal/attach-xterm";
import type { People } from "../../terminal/people";
import type { TerminalAddress, TerminalChannel } from "../../terminal/terminal-channel";
import type { HawseError } from "../../wire/errors";
import type { TerminalAttach } from "../../wire/methods";
import { Commands } from "../commands/commands";
import { persistently } from "../import-with-retry";
import { RecordingControl } from "../shell/recordings";
import { ensureTerminal, Shell } from "../shell/shell";
import { asks, labelOf } from "../shell/terminal-list";
import { type Status, statusOf } from "../status";
import { exposeTestHandle } from "../test-handle";
import { showBell } from "./bell";
import type { OpenEmulator } from "./emulator";
import { estimatedSize } from "./estimated-size";
import { hasGpu, loadGpuRenderer } from "./gpu-renderer";
import { Layout } from "./layout";
import { localAddress, openLink } from "./local-links";
import { PaneNotices } from "./pane-notices";
import { foreignSizeOf, Sizing } from "./sizing";
import { handleKeys, programMayWantKeys } from "./terminal-keys";
import { TerminalLook } from "./terminal-look";
import type { ForeignSize, OpenTerminal, TerminalOptions } from "./terminal-options";

export class TerminalPane implements Pane {
  readonly kind = TERMINAL;
  readonly id: string;
  readonly #app: AppContext;
  readonly #options: TerminalOptions;
  readonly #disposables = new DisposableList();
  readonly #title = signal("");
  readonly #open = signal<OpenTerminal | undefined>(undefined);
  readonly #changes = signal(0);
  readonly #progress = signal<Progress | undefined>(undefined);
  readonly #rung = signal(false);
  readonly #folded = signal(false);
  readonly #connectedBefore = signal(false);
  readonly #failure = signal<HawseError | undefined>(undefined);
  readonly #starting = signal<SandboxStarting | undefined>(undefined);
  #disposed = false;
  #element: HTMLElement | undefined;
  #wantsFocus = false;
  #visible = true;

  constructor(app: AppContext, options: TerminalOptions, state: PaneState) {
    this.#app = app;
    this.#options = options;
    this.id = state.id || "main";
    this.#disposables.add(
      app.client.onStarting(progress => {
        this.#starting.value = progress;
      }),
    );
  }

  /** Undefined until the emulator is open. */
  readonly opened: ReadonlySignal<OpenTerminal | undefined> = this.#open;
  readonly title: ReadonlySignal<string> = computed(() =>
    labelOf(this.id, this.#title.value, this.#options.terminals.value),
  );
  readonly status: ReadonlySignal<PaneStatus> = computed(() => {
    if (this.#rung.value) return "attention";
    const { kind } = this.state$.value;
    if (kind !== "failed" && asks(this.#open.value?.channel.waiting)) return "attention";
    return kind === "failed" ? "failed" : kind === "ended" ? "idle" : "running";
  });

  readonly progress: ReadonlySignal<Progress | undefined> = this.#progress;
  readonly folded: ReadonlySignal<boolean> = this.#folded;

  /** The state of the terminal and its connection, as shown to the user. */
  readonly state$: ReadonlySignal<Status> = computed(() => {
    this.#changes.value; // recomputes the state after each event that can change it
    const failure = this.#failure.value;
    const { client } = this.#app;
    return statusOf({
      connection: client.state,
      terminal: failure
        ? { phase: "failed", reason: failure }
        : (this.#open.value?.channel.state ?? { phase: "detached" }),
      online: navigator.onLine,
      now: performance.now(),
      time: Date.now(),
      connectedBefore: this.#connectedBefore.value,
      readOnly: this.readOnly,
      starting: this.#starting.value,
    });
  });

  /** The viewers; gets a new value after each change. */
  readonly people: ReadonlySignal<{ people: People } | undefined> = computed(() => {
    this.#changes.value;
    const people = this.#open.value?.channel.people;
    return people && { people };
  });

  /** The terminal's size if it differs from the size that fits, and the active viewer, who determines it. */
  readonly foreignSize = computed<ForeignSize | undefined>(() => {
    this.#changes.value;
    const open = this.#open.value;
    if (open?.channel.state.phase !== "live") return undefined;
    return foreignSizeOf(open);
  });

  get #inUse(): boolean {
    return this.#visible && document.hasFocus() && !this.#options.following();
  }

  get #address(): TerminalAddress {
    return { sandbox: this.#app.sandbox, id: this.id };
  }

  /** Set from `welcome`, even if there is no terminal to attach to. */
  get readOnly(): boolean {
    return this.#open.peek()?.channel.people.readOnly || this.#app.client.welcome?.role === "viewer";
  }

  /** Whether the program that has the focus could use the function keys. */
  get wantsFunctionKeys(): boolean {
    const { terminal, channel, commands } = this.#open.peek() ?? {};
    return !!terminal && !!channel && !!commands && programMayWantKeys(terminal, channel, commands);
  }

  state(): PaneState {
    return { id: this.id };
  }

  mount(element: HTMLElement): Disposable {
    element.classList.add("stage");
    this.#element = element;
    const host = make("div", "host");
    element.append(host);
    void this.#start(element, host);
    return { dispose: () => element.replaceChildren() };
  }

  focus(): void {
    this.#wantsFocus = true;
    this.#rung.value = false;
    const open = this.#open.peek();
    if (!open) return;
    const folded = this.#element?.querySelector<HTMLElement>(":scope.folded > .ended .primary");
    (folded ?? open.terminal).focus();
    exposeTestHandle(open.terminal, this.#app.client, open.channel);
  }

  /** Returns the shell's current directory. Throws HawseError. */
  async directory(): Promise<string> {
    const { client, sandbox } = this.#app;
    return (await client.call("terminal.get", { id: this.id }, { sandbox })).cwd;
  }

  takeText(text: string): void {
    this.focus();
    this.#open.peek()?.terminal.paste(text);
  }

  setVisible(visible: boolean): void {
    this.#visible = visible;
    if (visible) this.#open.peek()?.sizing.nudge();
    this.#open.peek()?.shell.updatePresence({ focus: this.#inUse });
  }

  /** Starts a new shell once the last one has ended. */
  restart(): void {
    this.#failure.value = undefined;
    this.focus();
    void this.#open.peek()?.shell.start();
  }

  /** Resizes the terminal to the size that fits. */
  useMySize(): void {
    const open = this.#open.peek();
    const fit = open?.layout.fitting();
    if (open && fit) open.shell.proposeSize(fit, true);
    this.focus();
  }

  refresh(): void {
    this.#changes.value++;
  }

  dispose(): void {
    this.#disposed = true;
    this.#disposables.dispose();
  }

  async #start(stage: HTMLElement, host: HTMLElement): Promise<void> {
    const { settings, theme } = this.#options;
    // The size is corrected once the emulator has measured its font.
    const exists = ensureTerminal(
      this.#app.client,
      this.#address,
      estimatedSize(stage, settings.value.fontSize),
    );
    exists.catch(() => {}); // prevents an unhandled rejection; `join` handles the error
    // The emulator needs the renderer immediately. Both are requested together while the page is connecting.
    if (hasGpu()) void loadGpuRenderer();
    const { openEmulator } = await persistently(() => import("./emulator"));
    const emulator = await openEmulator(host, settings.value, theme.current, this.#activate);
    if (this.#disposed) {
      emulator.dispose();
      return;
    }
    this.#disposables.add(emulator);
    const open = this.#connect(stage, host, emulator);
    this.#open.value = open;
    if (this.#wantsFocus) this.focus();
    void open.shell.join(exists);
  }

  /** Opens a link. */
  readonly #activate = (uri: string): void => {
    const local = localAddress(uri);
    if (local && !this.readOnly) this.#options.preview(local);
    else openLink(uri);
  };

  #connect(stage: HTMLElement, host: HTMLElement, { terminal, fit }: OpenEmulator): OpenTerminal {
    const { client, sandbox } = this.#app;
    const { settings, viewerKey, translate } = this.#options;
    const layout = new Layout(stage, terminal, fit, settings.value.fontSize);
    layout.fill();
    const introduce = (): Partial<TerminalAttach> => {
      const { name } = settings.value;
      const viewer = { key: viewerKey, kind: "person" as const, focus: this.#inUse };
      return { viewer: name ? { ...viewer, name } : viewer, ...layout.fitting() };
    };
    const attached = attachXterm(terminal, client, this.#address, { translate, introduce, mayPaste });
    const { channel } = attached;
    const shell = new Shell(client, channel, viewerKey, () => layout.fitting());
    const sizing = new Sizing(host, terminal, layout, attached, {
      propose: size => shell.proposeSize(size),
      inUse: () => this.#visible && !document.hidden,
    });
    const recording = new RecordingControl(client, { sandbox, terminal: this.id, toast: this.#app.toast });
    const commands = new Commands(terminal, (command, bar) => this.#options.commandMenu(this, command, bar));
    this.#disposables.add(attached, sizing, recording, commands);
    this.#addExtras(stage, host, { terminal, channel, shell, commands });
    // a click, because scrolling by touch must not focus the terminal
    this.#disposables.listen(host, "click", () => terminal.focus());
    this.#observe(stage, { terminal, attached, shell });
    const look = new TerminalLook(stage, terminal, { layout, sizing }, this.#options);
    this.#disposables.add(look);
    this.#notices(stage, terminal);
    handleKeys(terminal, channel, {
      refused: () => this.#typingRefused(channel),
      restart: () => this.restart(),
    });
    const find = () => look.find().catch(this.#options.failed);
    return { terminal, channel, layout, shell, recording, sizing, commands, find };
  }

  #observe(
    stage: HTMLElement,
    { terminal, attached, shell }: { terminal: Terminal; attached: AttachedTerminal; shell: Shell },
  ): void {
    const { channel } = attached;
    const { people } = channel;
    const { toast, client } = this.#app;
    const refresh = () => this.refresh();
    terminal.textarea?.setAttribute(
      "aria-label",
      "Terminal input. Press F6 at a prompt, or Control+F6 at any time, to leave the terminal.",
    );
    this.#disposables.add(
      terminal.onResize(refresh),
      showBell(terminal, stage, unseen => {
        this.#options.rung(unseen);
        if (unseen || !this.#visible) this.#rung.value = true;
      }),
      client.onState(refresh),
      channel.onState(({ phase }) => {
        if (phase === "live") this.#connectedBefore.value = true;
        refresh();
      }),
      shell.onFailed(error => {
        this.#failure.value = error;
      }),
      people.onChange(() => {
        terminal.options.disableStdin = !people.mayType;
        refresh();
      }),
      channel.onWaiting(refresh),
      channel.onInputRefused(() =>
        toast(`Not sent: only ${people.holder?.name ?? "another viewer"} may type`),
      ),
      channel.onInputLost(bytes => toast(`${bytes} bytes of your input may be lost`)),
      terminal.onTitleChange(title => {
        this.#title.value = title;
      }),
    );
    this.#disposables.listen(window, "online", refresh);
    this.#disposables.listen(window, "offline", refresh);
    this.#disposables.listen(window, "focus", () => shell.updatePresence({ focus: this.#inUse }));
    this.#disposables.listen(window, "blur", () => shell.updatePresence({ focus: false }));
  }

  /** Loads the optional parts once the server has sent the terminal's initial output. */
  #addExtras(
    stage: HTMLElement,
    host: HTMLElement,
    { terminal, channel, shell, commands }: Pick<OpenTerminal, "terminal" | "channel" | "shell" | "commands">,
  ): void {
    const load = async () => {
      const { addExtras } = await persistently(() => import("../terminal-extras"));
      if (this.#disposed) return;
      const extras = addExtras({
        stage,
        host,
        terminal,
        channel,
        commands,
        title: () => this.title.peek(),
        readOnly: () => this.readOnly,
        visible: () => this.#visible,
        app: this.#app,
        find: () => void this.#open.peek()?.find(),
        activate: this.#activate,
        fold: {
          status: this.state$,
          restart: () => this.restart(),
          close: () => this.#options.close(this),
          closable: this.#options.closable,
          focused: () => stage.contains(document.activeElement),
          folded: folded => {
            this.#folded.value = folded;
          },
        },
        point: at => shell.updatePresence({ at }),
        progress: progress => {
          this.#progress.value = progress;
        },
      });
      this.#disposables.add(extras);
    };
    const attached = channel.onState(({ phase }) => {
      if (phase !== "live" && phase !== "ended") return;
      attached.dispose();
      void load().catch(() => {}); // the terminal works even if these parts can't be loaded
    });
    this.#disposables.add(attached);
  }

  #notices(stage: HTMLElement, terminal: Terminal): void {
    const notices = new PaneNotices(stage, {
      again: reason => (reason?.code === "stopped" ? this.#options.startSandbox() : this.restart()),
      showSandboxes: this.#options.showSandboxes,
      sandbox: this.#app.sandbox,
    });
    // Moves notices away from the cursor.
    const avoid = () => {
      const upper = terminal.buffer.active.cursorY < terminal.rows / 2;
      notices.avoid(upper);
      if (this.#wantsFocus) this.#options.cursorMoved(upper);
    };
    this.#disposables.add(notices, terminal.onCursorMove(avoid));
    this.#disposables.defer(
      effect(() => {
        avoid();
        notices.show(this.state$.value);
      }),
    );
  }

  #typingRefused({ people }: TerminalChannel): void {
    const { holder, readOnly } = people;
    if (holder && !readOnly) this.#options.typingRefused(holder.name);
    else this.#app.toast("View only: you cannot type here.");
  }
}

async function mayPaste(text: string): Promise<boolean> {
  const loaded = await persistently(() => import("./paste-lines"));
  return loaded.mayPaste(text);
}
