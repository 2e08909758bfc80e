// The page's actions. The palette, the menus and the shortcuts are derived from this table.

import type { Action } from "../../frame/actions";
import { withSession } from "../address";
import type { OpenTerminal } from "../terminal/terminal-options";

export interface PageCommands {
  /** The active terminal, if the active pane is a terminal. */
  terminal: () => OpenTerminal | undefined;
  readOnly: () => boolean;
  holding: () => boolean;
  newNotebook: () => void;
  newTerminal: (place: "tab" | "right" | "below") => void;
  closePane: () => void;
  stepTab: (by: 1 | -1) => void;
  goPane: (side: "left" | "right" | "up" | "down") => void;
  walk: (by: 1 | -1) => void;
  /** Whether the function keys are free, because no program in a terminal could use them. */
  functionKeysFree: () => boolean;
  focusTerminal: () => void;
  palette: () => void;
  quickOpen: () => void;
  shortcuts: () => void;
  share: (readOnly: boolean) => void;
  lease: () => void;
  /** Whether another viewer holds the active terminal's keyboard and the user can request it. */
  held: () => boolean;
  ask: () => void;
  /** Whether a program in one of the terminals is asking a question. */
  asked: () => boolean;
  /** Shows the terminal whose program has been waiting longest. */
  goToQuestion: () => void;
  jump: (by: 1 | -1) => void;
  lastCommand: (what: "copy" | "run") => void;
  openShare: () => void;
  fontSize: (by: 1 | -1) => void;
  theme: () => void;
  light: () => boolean;
  reader: () => void;
  readerOn: () => boolean;
  recordings: () => void;
  settings: () => void;
  signOut: () => void;
  railOpen: () => boolean;
  toggleRail: () => void;
}

const shift = (key: string, mac = `Meta+${key}`) => ({ mac, other: `Control+Shift+${key}` });

export function pageActions(commands: PageCommands): Action[] {
  return [
    ...tabActions(commands),
    ...terminalActions(commands),
    ...shareActions(commands),
    ...viewActions(commands),
  ];
}

function tabActions(page: PageCommands): Action[] {
  const group = "Tabs and panes";
  const available = () => !page.readOnly();
  const side = (id: "left" | "right" | "up" | "down", key: string): Action => ({
    id: `pane.${id}`,
    label: `Go to the pane ${id === "up" ? "above" : id === "down" ? "below" : `on the ${id}`}`,
    group,
    keys: { mac: `Control+Alt+${key}`, other: `Control+Alt+${key}` },
    run: () => page.goPane(id),
  });
  return [
    {
      id: "palette",
      label: "Show all commands",
      group: "Commands",
      keys: shift("K"),
      menu: true,
      run: page.palette,
    },
    {
      id: "quick-open",
      label: "Open a file",
      group: "Commands",
      keys: shift("P", "Meta+P"),
      run: page.quickOpen,
    },
    {
      id: "terminal.new",
      label: "New terminal",
      group,
      keys: shift("Enter"),
      menu: true,
      available,
      run: () => page.newTerminal("tab"),
    },
    {
      id: "split.right",
      label: "Split right",
      group,
      keys: shift("E", "Meta+D"),
      menu: true,
      available,
      run: () => page.newTerminal("right"),
    },
    {
      id: "split.below",
      label: "Split down",
      group,
      keys: shift("O", "Meta+Shift+D"),
      menu: true,
      available,
      run: () => page.newTerminal("below"),
    },
    { id: "notebook.new", label: "New notebook", group, menu: true, available, run: page.newNotebook },
    {
      id: "pane.close",
      label: "Close this pane",
      group,
      keys: shift("X", "Meta+Shift+X"),
      menu: true,
      run: page.closePane,
    },
    {
      id: "tab.next",
      label: "Next tab",
      group,
      keys: shift("ArrowRight", "Meta+Shift+]"),
      run: () => page.stepTab(1),
    },
    {
      id: "tab.before",
      label: "Previous tab",
      group,
      keys: shift("ArrowLeft", "Meta+Shift+["),
      run: () => page.stepTab(-1),
    },
    side("left", "ArrowLeft"),
    side("right", "ArrowRight"),
    side("up", "ArrowUp"),
    side("down", "ArrowDown"),
  ];
}

function terminalActions(page: PageCommands): Action[] {
  const group = "Terminal";
  const recorded = () => (page.terminal()?.recording.active.value.length ?? 0) > 0;
  const mayWrite = () => page.terminal() !== undefined && !page.readOnly();
  return [
    {
      id: "find",
      label: "Find in the terminal",
      group,
      keys: shift("F"),
      menu: true,
      available: () => page.terminal() !== undefined,
      run: () => void page.terminal()?.find(),
    },
    {
      id: "clear",
      label: "Clear the scrollback",
      group,
      available: () => page.terminal() !== undefined,
      run: () => page.terminal()?.terminal.clear(),
    },
    {
      id: "record",
      label: () => (recorded() ? "Stop recording" : "Record this terminal"),
      group,
      menu: true,
      available: mayWrite,
      run: () => page.terminal()?.recording.toggle(),
    },
    {
      id: "mark",
      label: "Mark this moment",
      group,
      menu: true,
      available: () => mayWrite() && recorded(),
      run: () => page.terminal()?.recording.mark(),
    },
    {
      id: "command.before",
      label: "Go to the previous command",
      group,
      keys: shift("ArrowUp"),
      available: () => page.terminal() !== undefined,
      run: () => page.jump(-1),
    },
    {
      id: "command.next",
      label: "Go to the next command",
      group,
      keys: shift("ArrowDown"),
      available: () => page.terminal() !== undefined,
      run: () => page.jump(1),
    },
    {
      id: "question",
      label: "Go to the program that is waiting for input",
      group,
      keys: shift("L", "Meta+Shift+L"),
      available: page.asked,
      run: page.goToQuestion,
    },
    {
      id: "command.copy",
      label: "Copy the output of the last command",
      group,
      available: () => page.terminal() !== undefined,
      run: () => page.lastCommand("copy"),
    },
    {
      id: "command.again",
      label: "Run the last command again",
      group,
      available: mayWrite,
      run: () => page.lastCommand("run"),
    },
    { id: "recordings", label: "Recordings", group, menu: true, run: page.recordings },
  ];
}

function shareActions(page: PageCommands): Action[] {
  const group = "Together";
  return [
    {
      id: "lease",
      label: "Type alone",
      group,
      menu: true,
      available: () => page.terminal() !== undefined && !page.readOnly(),
      checked: page.holding,
      run: page.lease,
    },
    {
      id: "ask",
      label: "Ask for the keyboard",
      group,
      available: page.held,
      run: page.ask,
    },
    {
      id: "share",
      label: "Share",
      group,
      menu: true,
      available: () => !page.readOnly(),
      run: page.openShare,
    },
    {
      id: "link.view",
      label: "Copy view-only link",
      group,
      menu: true,
      run: () => page.share(true),
    },
    {
      id: "link",
      label: "Copy link to this terminal",
      group,
      menu: true,
      run: () => page.share(false),
    },
  ];
}

function viewActions(page: PageCommands): Action[] {
  const group = "Page";
  return [
    {
      id: "rail",
      label: "Show the rail",
      group,
      keys: shift("B"),
      menu: true,
      checked: page.railOpen,
      run: page.toggleRail,
    },
    { id: "larger", label: "Larger text", group, menu: true, run: () => page.fontSize(1) },
    {
      id: "smaller",
      label: "Smaller text",
      group,
      menu: true,
      run: () => page.fontSize(-1),
    },
    {
      id: "theme",
      label: "Light theme",
      group,
      menu: true,
      checked: page.light,
      run: page.theme,
    },
    {
      id: "reader",
      label: "Screen reader support",
      group,
      menu: true,
      checked: page.readerOn,
      run: page.reader,
    },
    {
      id: "region.next",
      label: "Go to the next region of the page",
      group,
      keys: { mac: "F6", other: "F6" },
      keysFree: page.functionKeysFree,
      also: "Control+F6",
      run: () => page.walk(1),
    },
    {
      id: "region.before",
      label: "Go to the previous region of the page",
      group,
      keys: { mac: "Shift+F6", other: "Shift+F6" },
      keysFree: page.functionKeysFree,
      also: "Control+Shift+F6",
      run: () => page.walk(-1),
    },
    {
      id: "shortcuts",
      label: "Keyboard shortcuts",
      group,
      keys: shift("?", "Meta+?"),
      menu: true,
      run: page.shortcuts,
    },
    {
      id: "settings",
      label: "Settings",
      group,
      keys: { mac: "Meta+,", other: "Control+," },
      menu: true,
      run: page.settings,
    },
    {
      id: "home",
      label: "All sandboxes",
      group,
      menu: true,
      run: () => location.assign(withSession("home.html", location.href)),
    },
    { id: "sign-out", label: "Sign out", group, menu: true, run: page.signOut },
  ];
}
