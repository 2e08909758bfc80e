// Opens the lists of actions: the palette, the menus and the list of shortcuts.

import { errorText } from "../client/error-text";
import { sandboxHandle } from "../client/sandbox";
import "./style/menus.css";
import { Terminal as TerminalIcon } from "lucide";
import { type Actions, labelOf } from "../frame/actions";
import { type MenuGroups, type MenuItem, type MenuPlace, openMenu } from "../frame/menu";
import type { AppContext } from "../frame/pane";
import type { Registry } from "../frame/registry";
import { leavesOf } from "../frame/tree";
import type { Workspace } from "../frame/workspace";
import { HawseError } from "../wire/errors";
import { shareLink } from "./address";
import { type CommandSource, commandLink, findStart } from "./commands/command-link";
import type { Command, Commands } from "./commands/commands";
import type { SettingsStore } from "./settings/settings";
import type { PageTheme } from "./settings/theme";
import { NOT_CONNECTED } from "./status";
import { copyText } from "./terminal/clipboard";
import type { OpenTerminal } from "./terminal/terminal-options";

export interface PageDialogsOptions {
  app: AppContext;
  actions: Actions;
  workspace: Workspace;
  registry: Registry;
  /** Whether to use the shortcuts for Apple systems. */
  mac: boolean;
  /** The token of a guest, who can pass on the link. */
  guestToken: () => string | undefined;
}

export class PageDialogs {
  readonly #options: PageDialogsOptions;
  /** Whether the programs needed for a desktop are installed in the sandbox; undefined if unknown. */
  #desktops = false;

  constructor(options: PageDialogsOptions) {
    this.#options = options;
  }

  /**
   * `typed` stops the wait for the text field and returns any text typed in the meantime, or undefined if the user has
   * cancelled the dialog.
   */
  async palette(typed: () => string | undefined): Promise<void> {
    const { actions, registry } = this.#options;
    const closed = this.#returning();
    const { ACTION_ICONS: icons, openPalette } = await import("./actions/action-lists");
    await registry.load().catch(() => {}); // if the views can't be loaded, the palette shows the other commands
    const views = registry.commands.map(command => ({ ...command, group: "Views" }));
    openPalette({ actions, icons, more: () => [...views, ...this.#tabs()], typed, closed });
  }

  async shortcuts(): Promise<void> {
    const { actions, mac } = this.#options;
    const closed = this.#returning();
    const { showShortcuts } = await import("./actions/action-lists");
    const group = "Terminal";
    const fixed = [
      { group, label: "Copy the selection", keys: mac ? "⌘C" : "Ctrl+C, Ctrl+Shift+C" },
      { group, label: "Leave a terminal while a program runs", keys: mac ? "⌃F6" : "Ctrl+F6" },
      { group, label: "Paste", keys: mac ? "⌘V" : "Ctrl+Shift+V" },
    ];
    showShortcuts(actions, fixed, closed);
  }

  async settings(settings: SettingsStore, theme: PageTheme): Promise<void> {
    const closed = this.#returning();
    const { openSettings } = await import("./settings/settings-sheet");
    openSettings({ settings, theme, closed });
  }

  async share(terminal: string): Promise<void> {
    const { client, sandbox, toast } = this.#options.app;
    if (client.state.phase !== "live") return toast(NOT_CONNECTED);
    const closed = this.#returning();
    const { openShare } = await import("./people/share-dialog");
    await openShare({ client, sandbox, terminal, toast, closed });
  }

  async copyLink(terminal: string, viewOnly: boolean): Promise<void> {
    const { client, sandbox, toast } = this.#options.app;
    const ours = this.#options.guestToken();
    if (viewOnly && !ours && client.state.phase !== "live") return toast(NOT_CONNECTED);
    const shared = viewOnly && !ours ? await client.call("share.create", { sandbox, terminal }) : undefined;
    const done = await copyText(shareLink(location.href, viewOnly ? (ours ?? shared?.token) : undefined));
    const access = viewOnly ? "Anyone with it can view, but not type." : "It contains no token.";
    toast(done ? `Link copied. ${access}` : "The browser does not allow this page to copy.");
  }

  /** Shows the actions for a command. */
  command({ channel, commands }: OpenTerminal, command: Command, bar: HTMLElement): void {
    const { client, focus, readOnly } = this.#options.app;
    const items = [
      { label: "Copy command", disabled: !command.line, run: () => void this.#copy(command.line) },
      { label: "Copy output", run: () => void this.#copy(commands.outputOf(command)) },
      {
        label: "Run again",
        disabled: !command.line || readOnly.peek(),
        run: () => void this.#runAgain(commands, command),
      },
      {
        label: "Copy link to it",
        run: () => void this.#copyCommandLink({ client, channel, commands }, command),
      },
    ];
    openMenu("Command", [items], bar, chosen => chosen || focus());
  }

  lastCommand(commands: Commands | undefined, what: "copy" | "run"): void {
    const { toast } = this.#options.app;
    const last = commands?.last;
    if (!commands || !last) toast("The shell has not reported a command since this page opened it.");
    else if (what === "copy") void this.#copy(commands.outputOf(last));
    else void this.#runAgain(commands, last);
  }

  /**
   * Returns a function that restores the focus once a dialog has closed: to the element that has the focus now if the
   * user got there with the keyboard, otherwise to the active pane.
   */
  #returning(): () => void {
    const { focus } = this.#options.app;
    const before = document.activeElement;
    if (!(before instanceof HTMLElement && before.matches(":focus-visible"))) return focus;
    return () => {
      // If an element has the focus, the browser has restored the focus or the user has moved it.
      if (document.activeElement !== document.body) return;
      if (before.isConnected && !before.closest("[hidden]")) before.focus();
      else focus();
    };
  }

  async #copy(text: string): Promise<void> {
    const { copy, focus } = this.#options.app;
    focus();
    await copy(text);
  }

  async #copyCommandLink(source: CommandSource, command: Command): Promise<void> {
    const { toast, focus, client } = this.#options.app;
    focus();
    if (client.state.phase !== "live") return toast(NOT_CONNECTED);
    try {
      const start = await findStart(source, command);
      if (!start) return toast("The server no longer has this command.");
      const { id } = source.channel.address;
      const done = await copyText(commandLink(location.href, id, start, this.#options.guestToken()));
      toast(done ? "Link to this command copied." : "The browser does not allow this page to copy.");
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      toast(errorText(problem));
    }
  }

  /**
   * Any program can report a command line (OSC 633), so it can't be trusted. A line that isn't visible on the screen is
   * shown to the user before it is run again.
   */
  async #runAgain(commands: Commands, command: Command): Promise<void> {
    const { run, focus, toast } = this.#options.app;
    const { line } = command;
    focus();
    if (!line) return;
    if (!commands.atPrompt) return toast("A program is running in this terminal.");
    const question = {
      title: "Run this command again?",
      text: "The terminal no longer shows this line, or never did.",
      quote: line,
      no: "Cancel",
      yes: "Run",
    };
    if (commands.shows(command) || (await (await import("../frame/question")).ask(question)).yes) run(line);
  }

  /** Shows the actions `ids`; defaults to the page's menu. */
  menu(label: string, where: MenuPlace | HTMLElement, ids?: readonly string[]): (item: MenuItem) => void {
    return openMenu(label, this.#groups(ids), where, chosen => {
      if (chosen) return;
      if (where instanceof HTMLElement) where.focus();
      else this.#options.app.focus();
    });
  }

  /** Shows a menu with these items below an element. */
  list(label: string, where: HTMLElement, items: MenuItem[]): void {
    openMenu(label, [items], where, chosen => chosen || where.focus());
  }

  /**
   * Shows a menu below an element, listing the things that can be opened: the actions `ids`, and the desktop if the
   * sandbox supports it.
   */
  async newMenu(where: HTMLElement, ids: readonly string[]): Promise<void> {
    const { client, sandbox, open } = this.#options.app;
    const add = this.menu("New", where, ids);
    if (!this.#desktops && client.state.phase === "live") {
      const list = sandboxHandle(client, sandbox).desktop.list({});
      this.#desktops = await list.then(
        ({ desktops, problem }) => !problem || desktops.length > 0,
        () => false, // the call fails if, for example, the sandbox is stopped
      );
    }
    if (this.#desktops) add({ label: "Open the desktop", run: () => open("desktop", {}, "tab") });
  }

  #groups(ids?: readonly string[]): MenuGroups {
    const { actions, app } = this.#options;
    const shown = actions.available.filter(({ id, menu }) => (ids ? ids.includes(id) : menu));
    const groups = new Map<string, typeof shown>();
    for (const action of shown) groups.set(action.group, [...(groups.get(action.group) ?? []), action]);
    return [...groups.values()].map(items =>
      items.map(action => ({
        label: labelOf(action),
        hint: actions.shortcut(action.id),
        checked: action.checked?.(),
        run: () => {
          app.focus(); // the pane gets the focus first, because the action may then move it elsewhere
          action.run();
        },
      })),
    );
  }

  /** Returns a palette entry for each tab. */
  #tabs() {
    const { workspace } = this.#options;
    return workspace.tabs.peek().map(({ key, tree, active }) => {
      const name = workspace.panes.peek().get(active)?.title.peek() || leavesOf(tree)[0]?.state.id || "tab";
      const run = () => workspace.select(key);
      return { id: `tab.${key}`, label: `Go to ${name}`, group: "Tabs and panes", icon: TerminalIcon, run };
    });
  }
}
