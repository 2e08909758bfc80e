// The terminal page: connects the client, the emulator and the user interface.

import "./style/base.css";
import "./style/header.css";
import "./style/people.css";
import "./style/overlays.css";
import "./style/search-bar.css";
import "./style/key-bar.css";
import { attachXterm, DisposableList, HawseClient, randomId } from "../index";
import { HawseError } from "../wire/errors";
import type { TerminalAttach } from "../wire/methods";
import { readAddress, shareLink, withoutToken } from "./address";
import { showBell } from "./bell";
import { copyText, handleClipboardKey } from "./clipboard";
import { byId } from "./dom";
import { openEmulator } from "./emulator";
import { Header, type Press } from "./header";
import { KeyBar } from "./key-bar";
import { Layout } from "./layout";
import { Overlays } from "./overlays";
import { PeopleBar } from "./people-bar";
import { Pointers } from "./pointers";
import { PortNotice } from "./ports";
import { RecordingControl } from "./recordings";
import { SandboxesDialog } from "./sandboxes";
import { SearchBar } from "./search-bar";
import { BY_SESSION, PageSession } from "./session";
import { clampFontSize, loadSettings, loadViewerKey, saveSettings } from "./settings";
import { Shell } from "./shell";
import { showSingleSignOn } from "./single-sign-on";
import { Sizing } from "./sizing";
import { NOT_CONNECTED, statusOf } from "./status";
import { TerminalTabs } from "./terminal-tabs";
import { exposeTestHandle } from "./test-handle";
import { PageTheme } from "./theme";
import { CONTRAST } from "./themes";
import { followViewport } from "./viewport";

/** Milliseconds between two notes to the gateway that the session is used: it ends after days without use. */
const SESSION_USE = 3_600_000;

const disposables = new DisposableList();
const address = readAddress(location.href);
history.replaceState(history.state, "", withoutToken(location.href));
const session = new PageSession({ tab: () => sessionStorage, browser: () => localStorage }, address);

const settings = loadSettings(() => localStorage);
const lightSystem = matchMedia("(prefers-color-scheme: light)");
const theme = new PageTheme(document.documentElement, lightSystem, settings.theme);

const header = new Header();
const overlays = new Overlays();
const viewerKey = loadViewerKey(() => sessionStorage);
const client = new HawseClient({ token: session.credential, ticket: session.ticket });
client.connect();
header.showTitle(`${address.terminal} @ ${address.sandbox}`);
header.showSettings(theme.current, settings.screenReader);
disposables.add(theme, header, overlays, followViewport());

const { terminal, fit } = await openEmulator(byId("terminal"), settings, theme.current);
const layout = new Layout(byId("stage"), terminal, fit, settings.fontSize);
layout.fill();
const keys = new KeyBar(byId("keys"), terminal);
const attached = attachXterm(
  terminal,
  client,
  { sandbox: address.sandbox, id: address.terminal },
  { translate: keys.translate, introduce },
);
const { channel } = attached;
const { people } = channel;
const shell = new Shell(client, channel, viewerKey, () => layout.fitting());
const sizing = new Sizing(byId("terminal"), terminal, layout, attached, size => shell.proposeSize(size));
const peopleBar = new PeopleBar(people);
const searchBar = new SearchBar(terminal, () => theme.current);
const bell = showBell(terminal, byId("stage"), unseen => header.ring(unseen));
const pointers = new Pointers(byId("stage"), terminal, people, at => shell.updatePresence({ at }));
disposables.add(keys, attached, sizing, peopleBar, pointers, searchBar, bell);
const tabs = new TerminalTabs(client, {
  ...address,
  toast: text => overlays.toast(text),
  focus: () => terminal.focus(),
});
exposeTestHandle(terminal, client, channel);
disposables.add(
  tabs,
  new SandboxesDialog(client, address.sandbox),
  new RecordingControl(client, {
    ...address,
    ticket: () => session.downloadTicket(),
    toast: text => overlays.toast(text),
    focus: () => terminal.focus(),
  }),
  new PortNotice(client, {
    sandbox: address.sandbox,
    toast: text => overlays.toast(text),
    focus: () => terminal.focus(),
  }),
);

/** Returns the parameters of each attach that describe this page. */
function introduce(): Partial<TerminalAttach> {
  const { name } = settings;
  const viewer = { key: viewerKey, kind: "person" as const, focus: document.hasFocus() };
  return { viewer: name ? { ...viewer, name } : viewer, ...layout.fitting() };
}

// ---- status: from the connection and the terminal to the header and the overlays

let connectedBefore = false;
let failure: HawseError | undefined;

/** Known from `welcome`, also while there is no terminal to attach to. */
function mayOnlyView(): boolean {
  return people.readOnly || client.welcome?.role === "viewer";
}

function showRole(): void {
  const readOnly = mayOnlyView();
  document.documentElement.dataset.role = readOnly ? "viewer" : "owner";
  overlays.showRole(readOnly);
}

function refresh(): void {
  const { state } = channel;
  overlays.avoid(terminal.buffer.active.cursorY < terminal.rows / 2);
  const status = statusOf({
    connection: client.state,
    terminal: failure ? { phase: "failed", reason: failure } : state,
    online: navigator.onLine,
    now: Date.now(),
    connectedBefore,
    readOnly: mayOnlyView(),
  });
  if (status.kind === "live") connectedBefore = true;
  showRole();
  overlays.show(status);
  header.showStatus(status);
}

const clock = setInterval(() => {
  if (client.state.phase === "waiting") refresh();
}, 500);
disposables.defer(() => clearInterval(clock));
const use = setInterval(() => void session.keep().catch(() => {}), SESSION_USE);
disposables.defer(() => clearInterval(use));
disposables.listen(window, "online", refresh);
disposables.listen(window, "offline", refresh);
disposables.add(
  client.onState(refresh),
  channel.onState(refresh),
  client.onRoundTrip(milliseconds => header.showRoundTrip(milliseconds)),
  shell.onFailed(error => {
    failure = error;
    refresh();
  }),
  people.onChange(() => {
    terminal.options.disableStdin = !people.mayType;
    showRole();
  }),
  channel.onInputRefused(() =>
    overlays.toast(`Not sent: only ${people.holder?.name ?? "another viewer"} may type`),
  ),
  channel.onInputLost(bytes => overlays.toast(`${bytes} bytes of your input may be lost`)),
  // A permanent notice, such as that of a port, moves away from the cursor.
  terminal.onCursorMove(() => overlays.avoid(terminal.buffer.active.cursorY < terminal.rows / 2)),
  terminal.onTitleChange(title => {
    header.showTitle(title || `${address.terminal} @ ${address.sandbox}`);
    tabs.refresh();
  }),
  channel.onState(({ phase }) => {
    if (phase === "live" || phase === "ended") tabs.refresh();
  }),
);

// ---- user actions

function restart(): void {
  failure = undefined;
  refresh();
  terminal.focus();
  void shell.start();
}

/** Starts the stopped sandbox, then the page anew: its runtime has other terminals, ports and recordings. */
async function startSandbox(): Promise<void> {
  try {
    await client.call("sandbox.start", { id: address.sandbox }, { key: randomId() });
    location.reload();
  } catch (problem) {
    if (!(problem instanceof HawseError)) throw problem;
    failure = problem;
    refresh();
  }
}

function act({ action, byPointer }: Press): void {
  if (byPointer) terminal.focus();
  if (action === "smaller" || action === "larger") {
    settings.fontSize = clampFontSize(settings.fontSize + (action === "larger" ? 1 : -1));
    layout.setFontSize(settings.fontSize);
    sizing.nudge();
  } else if (action === "theme") {
    theme.toggle();
    settings.theme = theme.chosen;
  } else if (action === "reader") {
    settings.screenReader = !settings.screenReader;
    terminal.options.screenReaderMode = settings.screenReader;
  } else if (action === "sign-out") {
    void session.end().catch(problem => overlays.toast(String(problem.message)));
  } else void copyLink(action === "view-link").catch(problem => overlays.toast(String(problem.message)));
  saveSettings(() => localStorage, settings);
  header.showSettings(theme.current, settings.screenReader);
}

async function copyLink(readOnly: boolean): Promise<void> {
  const ours = people.readOnly ? session.guestToken : undefined; // a guest may pass on the link that it has
  if (readOnly && !ours && client.state.phase !== "live") return overlays.toast(NOT_CONNECTED);
  const { sandbox, terminal } = address;
  const shared = readOnly && !ours ? await client.call("share.create", { sandbox, terminal }) : undefined;
  const done = await copyText(shareLink(location.href, readOnly ? (ours ?? shared?.token) : undefined));
  const access = readOnly ? "Anyone with it can view, but not type." : "It contains no token.";
  overlays.toast(done ? `Link copied. ${access}` : "The browser does not allow copying on this page");
}

async function lease(action: "take" | "release"): Promise<void> {
  terminal.focus(); // the user wants to type next
  if (client.state.phase !== "live") return overlays.toast(NOT_CONNECTED);
  const refused = await shell.lease(action);
  if (refused) overlays.toast(refused.message);
}

/** Whether the key types text into the terminal. */
function isTyping({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return (key.length === 1 && !ctrlKey && !altKey && !metaKey) || key === "Enter" || key === "Backspace";
}

terminal.textarea?.setAttribute("aria-label", "Terminal input. Press Control F6 to leave the terminal.");
disposables.listen<KeyboardEvent>(document, "keydown", event => {
  // The way out of the terminal for the keyboard (WCAG 2.1.2), which sends Tab and Escape to the program; and back.
  if (event.key !== "F6" || !event.ctrlKey) return;
  event.preventDefault();
  if (document.activeElement === terminal.textarea) byId("more").focus();
  else terminal.focus();
});
terminal.attachCustomKeyEventHandler(event => {
  if (event.key === "F6" && event.ctrlKey) return false;
  if (event.type === "keydown" && !people.mayType && isTyping(event)) {
    const { holder } = people;
    overlays.toast(
      holder ? `Only ${holder.name} may type. Take over to type.` : "View only: you cannot type here.",
    );
  }
  if (handleClipboardKey(terminal, event) || searchBar.handleKey(event)) return false;
  if (event.key !== "Enter" || channel.state.phase !== "ended") return true;
  if (event.type === "keydown") restart();
  return false;
});
disposables.add(
  header.onAction(act),
  theme.onChange(name => {
    searchBar.applyTheme();
    terminal.options.minimumContrastRatio = CONTRAST[name];
    header.showSettings(name, settings.screenReader);
  }),
  peopleBar.onLease(lease),
  peopleBar.onName(name => {
    settings.name = name;
    saveSettings(() => localStorage, settings);
    shell.updatePresence({ name });
    terminal.focus();
  }),
  overlays.onRestart(restart),
  overlays.onRetry(() => {
    client.retryNow();
    const reason = failure ?? (channel.state.phase === "failed" ? channel.state.reason : undefined);
    if (reason?.code === "stopped") void startSandbox();
    else if (reason) restart();
  }),
  overlays.onSignIn(token => {
    session.signIn(token);
    client.signIn(BY_SESSION);
  }),
  overlays.onKind(kind => {
    if (kind === "signed-out") {
      session.forget();
      void showSingleSignOn(byId("single-sign-on"), new URL(".", document.baseURI), location.href);
    }
    if (kind === "live") terminal.focus();
  }),
);

disposables.listen(byId("terminal"), "click", () => terminal.focus()); // a scroll by touch fires no click
disposables.listen(window, "focus", () => shell.updatePresence({ focus: true }));
disposables.listen(window, "blur", () => shell.updatePresence({ focus: false }));
refresh();
terminal.focus();
void shell.join();
