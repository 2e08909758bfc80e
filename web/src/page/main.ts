// The page: connects the client, the workspace of panes and the user interface around it.

import "./style/base.css";
import "./style/strip.css";
import "./style/panes.css";
import "./style/people.css";
import "./style/overlays.css";
import "./style/key-bar.css";
import { computed, effect, signal, untracked } from "@preact/signals";
import { h, render } from "preact";
import { Actions } from "../frame/actions";
import type { AppContext } from "../frame/pane";
import type { RailState } from "../frame/rail";
import { Registry } from "../frame/registry";
import { Stage } from "../frame/stage";
import { leavesOf } from "../frame/tree";
import { type Tab, TERMINAL, Workspace } from "../frame/workspace";
import { DisposableList, HawseClient, randomId } from "../index";
import { HawseError } from "../wire/errors";
import { readAddress, withoutToken } from "./address";
import { copyText } from "./clipboard";
import { byId } from "./dom";
import type { KeyBar } from "./key-bar";
import { Overlays } from "./overlays";
import { pageActions } from "./page-actions";
import { PageAddress, tabLink } from "./page-address";
import type { PageDialogs } from "./page-dialogs";
import { PageFacts } from "./page-facts";
import { PeopleBar } from "./people-bar";
import { PortNotice } from "./ports";
import { ask } from "./question";
import { walkRegions } from "./regions";
import type { SandboxesDialog } from "./sandboxes";
import { BY_SESSION, PageSession } from "./session";
import { clampFontSize, loadViewerKey, SettingsStore } from "./settings";
import { NOT_CONNECTED, type Status, statusOf } from "./status";
import { StatusLine } from "./status-line";
import { TabStrip } from "./tab-strip";
import { runningIds } from "./terminal-list";
import { TerminalPane } from "./terminal-pane";
import { Terminals } from "./terminals";
import { PageTheme } from "./theme";
import { followViewport } from "./viewport";

/** Milliseconds between two notes to the gateway that the session is used: it ends after days without use. */
const SESSION_USE = 3_600_000;

/** Width in CSS pixels below which the panes of files and previews open in tabs of their own; as in panes.css. */
const NARROW = 700;

/** Milliseconds after the first prompt before modules are loaded that the user has not asked for. */
const PRELOAD_DELAY = 1_000;

const disposables = new DisposableList();
const address = readAddress(location.href);
const { sandbox } = address;
history.replaceState(history.state, "", withoutToken(location.href));
const session = new PageSession({ tab: () => sessionStorage, browser: () => localStorage }, address);
const settings = new SettingsStore(() => localStorage);
const lightSystem = matchMedia("(prefers-color-scheme: light)");
const theme = new PageTheme(document.documentElement, lightSystem, settings.value.theme);
const overlays = new Overlays();
const toast = (text: string) => overlays.toast(text);
const viewerKey = loadViewerKey(() => sessionStorage);
const client = new HawseClient({ token: session.credential, ticket: session.ticket });
client.connect();

// ---- the workspace

const workspace = new Workspace();
const rail: RailState = { open: signal(false), view: signal("") };
const registry = new Registry(async () => {
  const { addViews } = await import("../views/register");
  addViews(registry, byId("rail"), rail, app);
});
const terminals = new Terminals(client, { sandbox, toast });
const activeTerminal = computed(() => {
  const pane = workspace.active.value;
  return pane instanceof TerminalPane ? pane : undefined;
});
/** Id of the terminal that is active, or was before another pane. */
const lastTerminal = signal(address.terminal);
disposables.defer(
  effect(() => {
    lastTerminal.value = activeTerminal.value?.id ?? lastTerminal.peek();
  }),
);
const people = computed(() => activeTerminal.value?.people.value);
/** Counts the events of the connection. */
const connection = signal(0);
const readOnly = computed(() => {
  connection.value;
  return people.value?.people.readOnly || client.welcome?.role === "viewer";
});
const facts = new PageFacts(client, sandbox, { terminals: terminals.list, active: activeTerminal });
let sandboxesDialog: Promise<SandboxesDialog> | undefined;
async function showSandboxes(): Promise<void> {
  sandboxesDialog ??= import("./sandboxes").then(loaded => new loaded.SandboxesDialog(client, sandbox));
  (await sandboxesDialog).show();
}

const app: AppContext = {
  client,
  sandbox,
  readOnly,
  directory: facts.directory,
  terminal: lastTerminal,
  toast,
  open: (kind, state, place) => {
    // A narrow page has no room for two panes side by side.
    const narrow = innerWidth < NARROW;
    const where = place === "right" && narrow ? "tab" : place;
    if (kind === "preview") ports.dismiss();
    if (narrow) rail.open.value = false; // it covers the panes
    const panes = [...workspace.panes.peek().values()];
    const found = panes.find(pane => pane.kind === kind && pane.adopt?.(state));
    if (!workspace.open(kind, found?.state() ?? state, where))
      toast("This tab has as many panes as fit. Open a new tab.");
  },
  show: view => {
    rail.open.value = true;
    rail.view.value = view;
  },
  changed: pane => {
    for (const [id, each] of workspace.panes.peek()) if (each === pane) workspace.setState(id, pane.state());
  },
  copy: async text => {
    toast((await copyText(text)) ? "Copied." : "The browser does not allow copying on this page");
  },
  screen: async (element, host) =>
    (await import("./screen")).openScreen(element, host, settings.value, theme),
  ticket: () => session.downloadTicket(),
  type: text => {
    const open = activeTerminal.peek()?.opened.peek();
    open?.terminal.input(text);
    return open !== undefined;
  },
  focus: () => workspace.active.peek()?.focus(),
};

let keyBar: KeyBar | undefined;
const phone = matchMedia("(pointer: coarse), (max-width: 600px)");
/** Fills the bar with keys, on devices that show it. */
async function showKeys(): Promise<void> {
  if (!phone.matches || keyBar) return;
  const loaded = await import("./key-bar").catch(() => undefined); // the next change of the state tries it again
  if (!loaded || keyBar) return;
  keyBar = new loaded.KeyBar(byId("keys"), () => activeTerminal.peek()?.opened.peek()?.terminal);
  disposables.add(keyBar);
}
disposables.listen(phone, "change", () => void showKeys());
registry.addPane({
  kind: TERMINAL,
  load: async () => (context, state) =>
    new TerminalPane(
      context,
      {
        settings,
        theme,
        viewerKey,
        translate: text => keyBar?.translate(text) ?? text,
        listChanged: terminals.refresh,
        rung: unseen => {
          unseenBell.value = unseen;
        },
        cursorMoved: upper => overlays.avoid(upper),
        startSandbox: () => void startSandbox(),
        showSandboxes: () => void showSandboxes(),
        preview: ({ port, path }) => openPreview(port, path),
        commandMenu: (pane, command, bar) => {
          const commands = pane.opened.peek()?.commands;
          if (commands) withDialogs(dialogs => dialogs.command(commands, command, bar));
        },
      },
      state,
    ),
});
const ports = new PortNotice(client, { sandbox, preview: openPreview, focus: app.focus });
const stage = new Stage(byId("panes"), workspace, registry, app, id => void closePane(id));
const pageAddress = new PageAddress(workspace, () => sessionStorage);
disposables.add(theme, overlays, followViewport(), terminals, facts, ports, stage, pageAddress);
disposables.defer(
  effect(() => {
    const running = runningIds(terminals.list.value);
    untracked(() => running.length && workspace.syncTerminals(running));
  }),
);
disposables.defer(effect(() => workspace.active.value?.focus()));
disposables.defer(
  effect(() => {
    if (rail.open.value)
      registry.load().catch(() => toast("The views could not be loaded. Reload the page."));
  }),
);

// ---- status: from the connection and the active terminal to the overlays

const unseenBell = signal(false);
const status = computed<Status>(() => {
  connection.value;
  const terminal = activeTerminal.value;
  if (terminal) return terminal.state$.value;
  return statusOf({
    connection: client.state,
    terminal: { phase: "live" },
    online: navigator.onLine,
    now: Date.now(),
    connectedBefore: true,
    readOnly: false,
  });
});
disposables.add(
  overlays.onRetry(() => client.retryNow()),
  overlays.onSignIn(token => {
    session.signIn(token);
    client.signIn(BY_SESSION);
  }),
  overlays.onKind(kind => {
    if (kind === "live") void showKeys();
    if (kind === "live" || kind === "ended" || kind === "signed-out" || kind === "failed")
      void import("./fonts").then(fonts => fonts.loadFonts()).catch(() => {});
    if (kind === "signed-out") {
      session.forget();
      void offerSingleSignOn().catch(() => {}); // without it, the token can be entered
    }
    if (kind !== "live") return;
    app.focus();
    // What the user may ask for next, so that no key is typed into the terminal meanwhile.
    setTimeout(() => void preload().catch(() => {}), PRELOAD_DELAY);
  }),
);
const refresh = () => {
  connection.value++;
  activeTerminal.peek()?.refresh();
};
disposables.add(client.onState(refresh));
disposables.defer(
  effect(() => {
    document.documentElement.dataset.role = readOnly.value ? "viewer" : "owner";
    overlays.show(status.value, status.value.kind === "failed" && client.state.phase === "failed");
    byId("people").classList.toggle("stale", status.value.kind !== "live");
  }),
);
disposables.defer(
  effect(() => {
    const pane = workspace.active.value;
    const title = pane?.title.value;
    const name = !title || title === address.terminal ? `${title || "hawse"} @ ${sandbox}` : title;
    document.title = `${unseenBell.value ? "● " : ""}${name} · hawse`;
  }),
);
const clock = setInterval(() => {
  if (client.state.phase === "waiting") refresh();
}, 500);
disposables.defer(() => clearInterval(clock));
const use = setInterval(() => void session.keep().catch(() => {}), SESSION_USE);
disposables.defer(() => clearInterval(use));

/**
 * One chunk after the other: a request for a chunk cannot be ended, and browsers open at most six connections to a host.
 * If all of them wait for chunks on a network that no longer answers, the page cannot reconnect.
 */
async function preload(): Promise<void> {
  await import("./search-bar");
  await import("./page-dialogs");
  await import("./action-lists");
}

/** A chunk of its own: most users have signed in. */
async function offerSingleSignOn(): Promise<void> {
  const { showSingleSignOn } = await import("./single-sign-on");
  await showSingleSignOn(byId("single-sign-on"), new URL(".", document.baseURI), location.href);
}

// ---- user actions

async function newTerminal(place: "tab" | "right" | "below"): Promise<void> {
  const id = await terminals.create(activeTerminal.peek()?.id);
  if (id) app.open(TERMINAL, { id }, place);
}

/** Closes a pane; a terminal ends with it, after a question if a command runs in it. */
async function closePane(id: number): Promise<void> {
  const leaf = workspace.tabs
    .peek()
    .flatMap(({ tree }) => leavesOf(tree))
    .find(each => each.id === id);
  if (!leaf) return;
  const pane = workspace.panes.peek().get(id);
  const terminal = leaf.kind === TERMINAL ? leaf.state.id : undefined;
  if (terminal === undefined) {
    if ((await pane?.mayClose?.()) !== false) workspace.remove(id);
    return;
  }
  if (readOnly.peek()) return workspace.remove(id);
  const loss = await terminals.lossOf(terminal);
  if (loss === undefined) return;
  if (loss && !(await ask(`Close ${pane?.title.peek() ?? terminal}?`, loss))) return;
  if (!(await terminals.end(terminal))) return;
  const [first, ...others] = workspace.tabs.peek();
  // The last pane stays, with the end of its shell.
  if (others.length || first?.tree.type === "split") workspace.remove(id);
  app.focus();
}

async function closeTab({ tree }: Tab): Promise<void> {
  for (const { id } of leavesOf(tree)) await closePane(id);
}

/** Starts the stopped sandbox, then the page anew: its runtime has other terminals, ports and recordings. */
async function startSandbox(): Promise<void> {
  try {
    await client.call("sandbox.start", { id: sandbox }, { key: randomId() });
    location.reload();
  } catch (problem) {
    if (!(problem instanceof HawseError)) throw problem;
    toast(problem.message || problem.code);
  }
}

function openPreview(port: number, path?: string): void {
  app.open("preview", { port: String(port), ...(path && path !== "/" ? { path } : {}) }, "right");
}

/** Id of the terminal that links lead to. */
function here(): string {
  return activeTerminal.peek()?.id ?? address.terminal;
}

async function lease(action: "take" | "release"): Promise<void> {
  app.focus(); // the user wants to type next
  if (client.state.phase !== "live") return toast(NOT_CONNECTED);
  const refused = await activeTerminal.peek()?.opened.peek()?.shell.lease(action);
  if (refused) toast(refused.message);
}

function holding(): boolean {
  const { me, lease } = people.value?.people ?? {};
  return me !== undefined && lease?.holder === me.id;
}

const mac = /Mac|iPhone|iPad/.test(navigator.platform);
const actions = new Actions(mac);
let dialogsLoaded: Promise<PageDialogs> | undefined;

/** Loads what is not needed before the first prompt. */
async function loadDialogs(): Promise<PageDialogs> {
  const loaded = await import("./page-dialogs");
  const guestToken = () => (readOnly.peek() ? session.guestToken : undefined);
  return new loaded.PageDialogs({ app, actions, workspace, registry, mac, guestToken });
}

function withDialogs(work: (dialogs: PageDialogs) => unknown): void {
  dialogsLoaded ??= loadDialogs();
  void dialogsLoaded.then(work).catch(problem => {
    dialogsLoaded = undefined;
    toast(problem.message);
  });
}

const problemToast = (problem: Error) => toast(problem.message);
actions.add(
  ...pageActions({
    terminal: () => activeTerminal.value?.opened.value,
    readOnly: () => readOnly.value,
    holding,
    newNotebook: () => app.open("notebook", { id: `nb-${randomId().slice(0, 8)}` }, "tab"),
    newTerminal: place => void newTerminal(place),
    closePane: () => void closePane(workspace.current.peek()?.active ?? 0),
    stepTab: by => workspace.step(by),
    goPane: side => workspace.go(side),
    walk: walkRegions,
    focusTerminal: app.focus,
    palette: () => withDialogs(dialogs => dialogs.palette()),
    quickOpen: () =>
      void import("../views/search/quick-open").then(loaded => loaded.quickOpen(app)).catch(problemToast),
    shortcuts: () => withDialogs(dialogs => dialogs.shortcuts()),
    share: viewOnly => withDialogs(dialogs => dialogs.copyLink(here(), viewOnly)),
    jump: by => activeTerminal.peek()?.opened.peek()?.commands.jump(by),
    lastCommand: what =>
      withDialogs(dialogs => dialogs.lastCommand(activeTerminal.peek()?.opened.peek()?.commands, what)),
    openShare: () => withDialogs(dialogs => dialogs.share(here())),
    lease: () => void lease(holding() ? "release" : "take"),
    fontSize: by => settings.update({ fontSize: clampFontSize(settings.value.fontSize + by) }),
    theme: () => {
      theme.toggle();
      settings.update({ theme: theme.chosen });
    },
    light: () => theme.current === "light",
    reader: () => settings.update({ screenReader: !settings.value.screenReader }),
    readerOn: () => settings.value.screenReader,
    recordings: () => app.show("recordings"),
    settings: () => withDialogs(dialogs => dialogs.settings(settings, theme)),
    signOut: () => void session.end().catch(problemToast),
    railOpen: () => rail.open.value,
    toggleRail: () => {
      rail.open.value = !rail.open.value;
    },
  }),
);
actions.listen(window);

// ---- the parts around the panes

render(
  h(TabStrip, {
    workspace,
    terminals: terminals.list,
    readOnly,
    href: tab => tabLink(location.href, tab),
    open: () => actions.run("terminal.new"),
    more: from =>
      withDialogs(dialogs =>
        dialogs.menu("New", from, ["terminal.new", "split.right", "split.below", "notebook.new"]),
      ),
    close: tab => void closeTab(tab),
    menu: (tab, event) => {
      event.preventDefault();
      workspace.select(tab.key);
      const { clientX: x, clientY: y } = event;
      const ids = ["terminal.new", "split.right", "split.below", "pane.close", "link"];
      withDialogs(dialogs => dialogs.menu("Tab", { x, y }, ids));
    },
  }),
  byId("tabs"),
);
render(
  h(StatusLine, {
    sandbox,
    isolation: facts.isolation,
    directory: facts.directory,
    git: facts.git,
    ports: ports.ports,
    recording: facts.recording,
    size: facts.size,
    status,
    railOpen: rail.open,
    toggleRail: () => actions.run("rail"),
    showSandboxes: () => void showSandboxes(),
    preview: openPreview,
    useMySize: () => void activeTerminal.peek()?.useMySize(),
  }),
  byId("status-line"),
);
const peopleBar = new PeopleBar(people);
byId("sandboxes").ariaLabel = `Sandbox ${sandbox}. All sandboxes`;
disposables.listen(byId("sandboxes"), "click", () => void showSandboxes());
disposables.listen(byId("more"), "click", () => withDialogs(dialogs => dialogs.menu("More", byId("more"))));
disposables.listen(byId("share"), "click", () => actions.run("share"));
disposables.defer(
  effect(() => {
    byId("share").hidden = readOnly.value;
  }),
);
disposables.listen(byId("palette"), "click", () => actions.run("palette"));
byId("palette").title = `All commands (${actions.shortcut("palette")})`;
disposables.add(
  peopleBar,
  peopleBar.onLease(action => void lease(action)),
  peopleBar.onName(name => {
    settings.update({ name });
    for (const pane of workspace.panes.peek().values())
      if (pane instanceof TerminalPane) pane.opened.peek()?.shell.updatePresence({ name });
    app.focus();
  }),
);
