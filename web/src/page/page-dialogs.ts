// Opens what lists the actions: the palette, the menus and the list of shortcuts.

import "./style/menus.css";
import { Terminal as TerminalIcon } from "lucide";
import { type Actions, labelOf } from "../frame/actions";
import { type MenuGroups, type MenuPlace, openMenu } from "../frame/menu";
import type { AppContext } from "../frame/pane";
import type { Registry } from "../frame/registry";
import { leavesOf } from "../frame/tree";
import type { Workspace } from "../frame/workspace";
import { shareLink } from "./address";
import { copyText } from "./clipboard";
import type { Command, Commands } from "./commands";
import type { SettingsStore } from "./settings";
import { NOT_CONNECTED } from "./status";
import type { PageTheme } from "./theme";

export interface PageDialogsOptions {
  app: AppContext;
  actions: Actions;
  workspace: Workspace;
  registry: Registry;
  /** Whether the shortcuts are those of Apple's systems. */
  mac: boolean;
  /** The token of a guest, who may pass on the link that it has. */
  guestToken: () => string | undefined;
}

export class PageDialogs {
  readonly #options: PageDialogsOptions;

  constructor(options: PageDialogsOptions) {
    this.#options = options;
  }

  async palette(): Promise<void> {
    const { actions, app, registry } = this.#options;
    const { ACTION_ICONS: icons, openPalette } = await import("./action-lists");
    await registry.load().catch(() => {}); // without the views, the other commands are there
    const views = registry.commands.map(command => ({ ...command, group: "Views" }));
    openPalette({ actions, icons, more: () => [...views, ...this.#tabs()], closed: app.focus });
  }

  async shortcuts(): Promise<void> {
    const { actions, app, mac } = this.#options;
    const { showShortcuts } = await import("./action-lists");
    const group = "Terminal";
    const fixed = [
      { group, label: "Copy the selection", keys: mac ? "⌘C" : "Ctrl+C, Ctrl+Shift+C" },
      { group, label: "Paste", keys: mac ? "⌘V" : "Ctrl+Shift+V" },
    ];
    showShortcuts(actions, fixed, app.focus);
  }

  async settings(settings: SettingsStore, theme: PageTheme): Promise<void> {
    const { openSettings } = await import("./settings-sheet");
    openSettings({ settings, theme, closed: this.#options.app.focus });
  }

  async share(terminal: string): Promise<void> {
    const { client, sandbox, toast, focus } = this.#options.app;
    if (client.state.phase !== "live") return toast(NOT_CONNECTED);
    const { openShare } = await import("./share-dialog");
    await openShare({ client, sandbox, terminal, toast, closed: focus });
  }

  async copyLink(terminal: string, viewOnly: boolean): Promise<void> {
    const { client, sandbox, toast } = this.#options.app;
    const ours = this.#options.guestToken();
    if (viewOnly && !ours && client.state.phase !== "live") return toast(NOT_CONNECTED);
    const shared = viewOnly && !ours ? await client.call("share.create", { sandbox, terminal }) : undefined;
    const done = await copyText(shareLink(location.href, viewOnly ? (ours ?? shared?.token) : undefined));
    const access = viewOnly ? "Anyone with it can view, but not type." : "It contains no token.";
    toast(done ? `Link copied. ${access}` : "The browser does not allow copying on this page");
  }

  /** Shows what can be done with a command. */
  command(commands: Commands, command: Command, bar: HTMLElement): void {
    const { focus, readOnly } = this.#options.app;
    const items = [
      { label: "Copy command", disabled: !command.line, run: () => void this.#copy(command.line) },
      { label: "Copy output", run: () => void this.#copy(commands.outputOf(command)) },
      {
        label: "Run again",
        disabled: !command.line || readOnly.peek(),
        run: () => this.#runAgain(command),
      },
    ];
    openMenu("Command", [items], bar, chosen => chosen || focus());
  }

  lastCommand(commands: Commands | undefined, what: "copy" | "run"): void {
    const { toast } = this.#options.app;
    const last = commands?.last;
    if (!commands || !last) toast("The shell has not reported a command since this page shows it.");
    else if (what === "copy") void this.#copy(commands.outputOf(last));
    else this.#runAgain(last);
  }

  async #copy(text: string): Promise<void> {
    const { copy, focus } = this.#options.app;
    focus();
    await copy(text);
  }

  #runAgain({ line }: Command): void {
    const { type, focus } = this.#options.app;
    focus();
    if (line) type(`${line}\r`);
  }

  /** Shows the actions `ids`, or those of the page's menu. */
  menu(label: string, where: MenuPlace | HTMLElement, ids?: readonly string[]): void {
    openMenu(label, this.#groups(ids), where, chosen => {
      if (chosen) return;
      if (where instanceof HTMLElement) where.focus();
      else this.#options.app.focus();
    });
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
          app.focus(); // before the action, which may give the focus to something else
          action.run();
        },
      })),
    );
  }

  /** An entry of the palette for each tab. */
  #tabs() {
    const { workspace } = this.#options;
    return workspace.tabs.peek().map(({ key, tree, active }) => {
      const name = workspace.panes.peek().get(active)?.title.peek() || leavesOf(tree)[0]?.state.id || "tab";
      const run = () => workspace.select(key);
      return { id: `tab.${key}`, label: `Go to ${name}`, group: "Tabs and panes", icon: TerminalIcon, run };
    });
  }
}
