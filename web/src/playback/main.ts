// The page for one recording: `/?recording=ID&sandbox=local`.

import { visible } from "../base/visible";
import "../page/style/base.css";
import "../page/style/inter.css";
import "../page/style/header.css";
import "../page/style/overlays.css";
import "../page/style/playback.css";
import type { Terminal } from "@xterm/xterm";
import type { Disposable } from "../base/disposables";
import { DisposableList } from "../base/disposables";
import { byId, setText } from "../base/dom";
import { formatSize } from "../base/format";
import { GatewayClient, PATIENT } from "../client/client";
import { errorText } from "../client/error-text";
import { readAddress, sandboxLink } from "../page/address";
import { sessionOfPage } from "../page/session/session";
import { loadSettings } from "../page/settings/settings";
import { PageTheme } from "../page/settings/theme";
import { LINK_ENDED } from "../page/status";
import { openScreen } from "../page/terminal/screen";
import { downloadRecording } from "../player/download";
import { Player, type Stage } from "../player/player";
import { RemoteRecording } from "../player/source";
import { HawseError } from "../wire/errors";
import { Controls } from "./controls";

const disposables = new DisposableList();
const address = readAddress(location.href);
const id = new URL(location.href).searchParams.get("recording") ?? "";
const session = sessionOfPage(address);

const settings = loadSettings(() => localStorage);
const lightSystem = matchMedia("(prefers-color-scheme: light)");
const theme = new PageTheme(document.documentElement, lightSystem, settings.theme);

const back = sandboxLink(location.href, address.sandbox);
byId<HTMLAnchorElement>("back").href = back;
byId<HTMLAnchorElement>("problem-link").href = back;

function fail(error: HawseError): void {
  const code = !id && error.code === "invalid_params" ? "not_found" : error.code;
  const texts: Record<string, string> = {
    not_found: id
      ? "This recording does not exist. It may have been deleted."
      : "The address does not name a recording. Open one from the list of recordings.",
    unauthenticated:
      session.signedInWith === "link"
        ? `This link has ended. ${LINK_ENDED}`
        : "You are not signed in here. Sign in on the terminal's page, then come back.",
    forbidden: "You are signed in, but you may not view this recording.",
  };
  setText(byId("problem-text"), texts[code] ?? errorText(error));
  byId("problem").hidden = false;
}

const client = new GatewayClient({ ...PATIENT, token: session.credential, ticket: session.ticket });
disposables.add(
  client.onState(state => {
    if (state.phase === "signed-out") fail(new HawseError("unauthenticated", "not signed in"));
    else if (state.phase === "failed") fail(state.reason);
  }),
);
client.connect();

const host = byId("terminal");
const source = new RemoteRecording(client, address.sandbox, id);
let terminal: Terminal | undefined;

async function openTerminal(): Promise<Stage & Disposable> {
  const screen = await openScreen(byId("stage"), host, settings, theme);
  const emulator = screen.terminal;
  terminal = emulator;
  return {
    reset: () => emulator.reset(),
    resize: (cols, rows) => screen.resize(cols, rows),
    write: (data, done) => emulator.write(data, done),
    dispose: () => screen.dispose(),
  };
}

async function openDesktop(): Promise<Stage & Disposable> {
  const { DesktopStage } = await import("../player/desktop-stage");
  return new DesktopStage(host);
}

// An error is ignored here; the player shows it when it loads the recording.
const desktop = await source.info().then(
  info => info.desktop != null,
  () => false,
);
const stage = await (desktop ? openDesktop() : openTerminal());
const player = new Player(source, stage);
disposables.add(
  theme,
  stage,
  player,
  new Controls(player),
  player.onChange(() => player.error && fail(player.error)),
);
disposables.listen(byId("download"), "click", () => {
  downloadRecording(address.sandbox, id, () => session.downloadTicket()).catch((problem: unknown) => {
    if (problem instanceof HawseError) fail(problem);
    else throw problem;
  });
});

declare global {
  interface Window {
    playback?: { player: Player; terminal: Terminal | undefined; host: HTMLElement };
  }
}
window.playback = { player, terminal, host };

try {
  await player.load();
  const { info } = player;
  const title =
    info?.title || `${info?.desktop ? `Desktop ${info.desktop}` : info?.terminal} @ ${address.sandbox}`;
  setText(byId("title"), title);
  document.title = `${visible(title)} · recording · hawse`;
  const started = new Date((info?.started ?? 0) * 1000);
  const facts = [
    started.toLocaleString([], { dateStyle: "short", timeStyle: "short" }),
    formatSize(info?.size ?? 0),
  ];
  if (info?.truncated) facts.push("incomplete");
  setText(byId("kind"), facts.join(" · "));
  byId<HTMLButtonElement>("download").disabled = false;
} catch (problem) {
  if (!(problem instanceof HawseError)) throw problem;
  fail(problem);
}
