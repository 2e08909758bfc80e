// A pane with a terminal: its emulator, its stream, and what belongs to it alone. Several can be on the page.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { SandboxStarting } from "../client/channels";
import type { AppContext, Pane, PaneState, PaneStatus, Progress } from "../frame/pane";
import { TERMINAL } from "../frame/workspace";
import { type AttachedTerminal, attachXterm } from "../terminal/attach-xterm";
import type { People } from "../terminal/people";
import type { TerminalAddress, TerminalChannel } from "../terminal/terminal-channel";
import type { HawseError } from "../wire/errors";
import type { Participant, TerminalAttach } from "../wire/methods";
import { showBell } from "./bell";
import { handleClipboardKey } from "./clipboard";
import { type Command, Commands } from "./commands";
import { make } from "./dom";
import type { OpenEmulator } from "./emulator";
import { estimatedSize } from "./estimated-size";
import { Layout } from "./layout";
import { type LocalAddress, localAddress, openLink } from "./local-links";
import { PaneNotices } from "./pane-notices";
import { persistently } from "./persistently";
import { RecordingControl } from "./recordings";
import type { SearchBar } from "./search-bar";
import type { SettingsStore, ThemeName } from "./settings";
import { ensureTerminal, Shell } from "./shell";
import { Sizing } from "./sizing";
import { type Status, statusOf } from "./status";
import { exposeTestHandle } from "./test-handle";
import type { PageTheme } from "./theme";
import { appearance } from "./themes";

/** What a terminal needs from the page besides the context of all panes. */
export interface TerminalOptions {
  readonly settings: SettingsStore;
  readonly theme: PageTheme;
  readonly viewerKey: string;
  /** Changes the user's text before it is sent: the sticky Ctrl of touch keyboards. */
  readonly translate: (text: string) => string;
  /** The terminal's title, directory or state has changed. */
  readonly listChanged: () => void;
  /** The bell has rung while the page was in the background (true), or the user has come back (false). */
  readonly rung: (unseen: boolean) => void;
  /** The cursor of the active terminal is in the upper half of its pane, or not any more. */
  readonly cursorMoved: (inUpperHalf: boolean) => void;
  /** The terminal failed because its sandbox is stopped, and the user wants to start it. */
  readonly startSandbox: () => void;
  readonly showSandboxes: () => void;
  /** Opens the preview of a port of the sandbox. */
  readonly preview: (address: LocalAddress) => void;
  /** Shows what can be done with a command of this terminal. */
  readonly commandMenu: (pane: TerminalPane, command: Command, bar: HTMLElement) => void;
}

/** What exists once the emulator is open. */
export interface OpenTerminal {
  readonly terminal: Terminal;
  readonly channel: TerminalChannel;
  readonly layout: Layout;
  readonly shell: Shell;
  readonly commands: Commands;
  readonly find: () => Promise<void>;
  readonly recording: RecordingControl;
  readonly sizing: Sizing;
}

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
  readonly #connectedBefore = signal(false);
  readonly #failure = signal<HawseError | undefined>(undefined);
  readonly #starting = signal<SandboxStarting | undefined>(undefined);
  #disposed = false;
  #search: SearchBar | undefined;
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
  readonly title: ReadonlySignal<string> = computed(() => this.#title.value || this.id);
  readonly status: ReadonlySignal<PaneStatus> = computed(() => {
    if (this.#rung.value) return "attention";
    const { kind } = this.state$.value;
    return kind === "failed" ? "failed" : kind === "ended" ? "idle" : "running";
  });

  readonly progress: ReadonlySignal<Progress | undefined> = this.#progress;

  /** The state of the terminal and of its connection, for people. */
  readonly state$: ReadonlySignal<Status> = computed(() => {
    this.#changes.value; // counts the events that may have changed something
    const failure = this.#failure.value;
    const { client } = this.#app;
    return statusOf({
      connection: client.state,
      terminal: failure
        ? { phase: "failed", reason: failure }
        : (this.#open.value?.channel.state ?? { phase: "detached" }),
      online: navigator.onLine,
      now: Date.now(),
      connectedBefore: this.#connectedBefore.value,
      readOnly: this.readOnly,
      starting: this.#starting.value,
    });
  });

  /** The viewers, with a new value after each change of them. */
  readonly people: ReadonlySignal<{ people: People } | undefined> = computed(() => {
    this.#changes.value;
    const people = this.#open.value?.channel.people;
    return people && { people };
  });

  /** The size of the terminal if it is not the one that fits here, and the viewer in use, which decides it. */
  readonly foreignSize = computed<
    { cols: number; rows: number; of: Participant | undefined; mayUse: boolean } | undefined
  >(() => {
    this.#changes.value;
    const open = this.#open.value;
    if (open?.channel.state.phase !== "live") return undefined;
    const { cols, rows } = open.terminal;
    const fit = open.layout.fitting();
    if (!fit || (fit.cols === cols && fit.rows === rows)) return undefined;
    const { others, readOnly } = open.channel.people;
    const of = others.find(({ focus }) => focus) ?? others[0];
    return { cols, rows, of, mayUse: !readOnly };
  });

  get #address(): TerminalAddress {
    return { sandbox: this.#app.sandbox, id: this.id };
  }

  /** Known from `welcome`, also while there is no terminal to attach to. */
  get readOnly(): boolean {
    return this.#open.peek()?.channel.people.readOnly || this.#app.client.welcome?.role === "viewer";
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
    open.terminal.focus();
    exposeTestHandle(open.terminal, this.#app.client, open.channel);
  }

  setVisible(visible: boolean): void {
    this.#visible = visible;
    if (visible) this.#open.peek()?.sizing.nudge();
    this.#open.peek()?.shell.updatePresence({ focus: visible && document.hasFocus() });
  }

  /** Starts a new shell after the end of the last one. */
  restart(): void {
    this.#failure.value = undefined;
    this.focus();
    void this.#open.peek()?.shell.start();
  }

  /** Gives the terminal the size that fits here. */
  useMySize(): void {
    const open = this.#open.peek();
    const fit = open?.layout.fitting();
    if (open && fit) open.shell.proposeSize(fit);
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
    // The size is corrected when the emulator has measured its font.
    const exists = ensureTerminal(
      this.#app.client,
      this.#address,
      estimatedSize(stage, settings.value.fontSize),
    );
    exists.catch(() => {}); // `join` handles it
    // The emulator needs the renderer at once. They are requested together, and the page connects meanwhile.
    void import("@xterm/addon-webgl").catch(() => {});
    const { openEmulator } = await persistently(() => import("./emulator"));
    const emulator = await openEmulator(host, settings.value, theme.current, uri => {
      const local = localAddress(uri);
      if (local && !this.readOnly) this.#options.preview(local);
      else openLink(uri);
    });
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

  #connect(stage: HTMLElement, host: HTMLElement, { terminal, fit }: OpenEmulator): OpenTerminal {
    const { client, sandbox } = this.#app;
    const { settings, viewerKey, translate } = this.#options;
    const layout = new Layout(stage, terminal, fit, settings.value.fontSize);
    layout.fill();
    const introduce = (): Partial<TerminalAttach> => {
      const { name } = settings.value;
      const viewer = { key: viewerKey, kind: "person" as const, focus: document.hasFocus() && this.#visible };
      return { viewer: name ? { ...viewer, name } : viewer, ...layout.fitting() };
    };
    const attached = attachXterm(terminal, client, this.#address, { translate, introduce });
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
    this.#disposables.listen(host, "click", () => terminal.focus()); // a scroll by touch fires no click
    this.#observe(stage, { terminal, attached, shell });
    this.#applySettings(terminal, layout, sizing);
    this.#notices(stage, terminal);
    this.#handleKeys(terminal, channel);
    const find = () => this.#find(stage, terminal);
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
      "Terminal input. Press F6 with Control to leave the terminal.",
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
        if (phase === "live" || phase === "ended") this.#options.listChanged();
        refresh();
      }),
      shell.onFailed(error => {
        this.#failure.value = error;
      }),
      people.onChange(() => {
        terminal.options.disableStdin = !people.mayType;
        refresh();
      }),
      channel.onInputRefused(() =>
        toast(`Not sent: only ${people.holder?.name ?? "another viewer"} may type`),
      ),
      channel.onInputLost(bytes => toast(`${bytes} bytes of your input may be lost`)),
      terminal.onTitleChange(title => {
        this.#title.value = title;
        this.#options.listChanged();
      }),
    );
    this.#disposables.listen(window, "online", refresh);
    this.#disposables.listen(window, "offline", refresh);
    this.#disposables.listen(window, "focus", () => shell.updatePresence({ focus: this.#visible }));
    this.#disposables.listen(window, "blur", () => shell.updatePresence({ focus: false }));
  }

  #applySettings(terminal: Terminal, layout: Layout, sizing: Sizing): void {
    const { settings, theme } = this.#options;
    this.#disposables.defer(
      effect(() => {
        const { fontSize, screenReader } = settings.signal.value;
        terminal.options.screenReaderMode = screenReader;
        this.#applyTheme(terminal, theme.current);
        layout.setFontSize(fontSize);
        sizing.nudge();
      }),
    );
    this.#disposables.add(theme.onChange(name => this.#applyTheme(terminal, name)));
  }

  #applyTheme(terminal: Terminal, name: ThemeName): void {
    const options = appearance(this.#options.settings.value, name);
    Object.assign(terminal.options, options);
    this.#element?.style.setProperty("--terminal", options.theme.background ?? "");
    this.#search?.applyTheme();
  }

  /** Opens the search, whose module is loaded with the first one. */
  async #find(stage: HTMLElement, terminal: Terminal): Promise<void> {
    const { SearchBar } = await import("./search-bar");
    if (this.#disposed) return;
    if (!this.#search) {
      const { settings, theme } = this.#options;
      this.#search = new SearchBar(stage, terminal, () => [
        theme.current,
        appearance(settings.value, theme.current).theme,
      ]);
      this.#disposables.add(this.#search);
    }
    this.#search.open();
  }

  /** Loads what can be had without, when the server has sent what the terminal shows. */
  #addExtras(
    stage: HTMLElement,
    host: HTMLElement,
    { terminal, channel, shell, commands }: Pick<OpenTerminal, "terminal" | "channel" | "shell" | "commands">,
  ): void {
    const load = async () => {
      const { addExtras } = await import("./terminal-extras");
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
        toast: this.#app.toast,
        find: () => void this.#find(stage, terminal),
        show: () => this.#app.open(TERMINAL, this.state()),
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
      void load().catch(() => {}); // the terminal works without them
    });
    this.#disposables.add(attached);
  }

  #notices(stage: HTMLElement, terminal: Terminal): void {
    const notices = new PaneNotices(stage, {
      restart: () => this.restart(),
      again: reason => (reason?.code === "stopped" ? this.#options.startSandbox() : this.restart()),
      showSandboxes: this.#options.showSandboxes,
    });
    // A notice moves away from the cursor.
    const avoid = () => {
      const upper = terminal.buffer.active.cursorY < terminal.rows / 2;
      notices.avoid(upper);
      if (this.#wantsFocus) this.#options.cursorMoved(upper);
    };
    this.#disposables.add(notices, terminal.onCursorMove(avoid));
    this.#disposables.defer(
      effect(() => {
        avoid();
        notices.show(this.state$.value, this.readOnly);
      }),
    );
  }

  #handleKeys(terminal: Terminal, channel: TerminalChannel): void {
    const { people } = channel;
    terminal.attachCustomKeyEventHandler(event => {
      if (event.key === "F6") return false; // moves between the regions of the page
      if (event.type === "keydown" && !people.mayType && isTyping(event)) {
        const { holder } = people;
        this.#app.toast(
          holder ? `Only ${holder.name} may type. Take over to type.` : "View only: you cannot type here.",
        );
      }
      if (handleClipboardKey(terminal, event)) return false;
      if (event.key !== "Enter" || channel.state.phase !== "ended") return true;
      if (event.type === "keydown") this.restart();
      return false;
    });
  }
}

/** Whether the key types text into the terminal. */
function isTyping({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return (key.length === 1 && !ctrlKey && !altKey && !metaKey) || key === "Enter" || key === "Backspace";
}
