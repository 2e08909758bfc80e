// The page that lists all sandboxes: their activity, the people using them, and actions to create, open, start, stop
// and delete them.

import { sandboxHandle } from "../client/sandbox";
import "../page/style/base.css";
import "../page/style/inter.css";
import "../page/style/strip.css";
import "../page/style/people.css";
import "../page/style/overlays.css";
import "../page/style/sheet.css";
import "../page/style/sandboxes.css";
import "./home.css";
import { byId, setText } from "../base/dom";
import { registerWorker } from "../base/service-worker";
import { GatewayClient, PATIENT } from "../client/client";
import { readAddress, sandboxLink } from "../page/address";
import { refuseDrops } from "../page/refuse-drops";
import { SandboxForm } from "../page/sandboxes/sandbox-form";
import { SandboxList } from "../page/sandboxes/sandbox-list";
import { BY_SESSION, sessionOfPage } from "../page/session/session";
import { showSingleSignOn } from "../page/session/single-sign-on";
import { loadSettings } from "../page/settings/settings";
import { PageTheme } from "../page/settings/theme";
import { signedOutOf, statusOf } from "../page/status";
import { CardPreview } from "./card-preview";

const address = readAddress(location.href);
const session = sessionOfPage(address);
new PageTheme(
  document.documentElement,
  matchMedia("(prefers-color-scheme: light)"),
  loadSettings(() => localStorage).theme,
);
const client = new GatewayClient({ ...PATIENT, token: session.credential, ticket: session.ticket });
const open = (sandbox: string) => sandboxLink(location.href, sandbox);

// These objects are never disposed of, because they're needed as long as the page is open.
const form = new SandboxForm(client, ({ id }) => location.assign(open(id)));
const list = new SandboxList(client, {
  element: byId("sandboxes-list"),
  href: open,
  current: undefined,
  changed: showState,
  keepFocus: () => byId(list.readOnly ? "sandboxes-title" : "sandboxes-new").focus(),
  extend: (row, info) => {
    const preview = new CardPreview(sandboxHandle(client, info.id), open(info.id));
    row.element.prepend(preview.screen);
    row.element.append(preview.people);
    return {
      update: ({ state }) => {
        preview.state = state;
      },
      dispose: () => preview.dispose(),
    };
  },
});

byId("empty-new").addEventListener("click", () => form.setOpen(true));
byId("sign-in").addEventListener("submit", event => {
  event.preventDefault();
  const field = byId<HTMLInputElement>("token");
  const token = field.value.trim();
  field.value = "";
  if (!token) return;
  session.signIn(token);
  client.signIn(BY_SESSION);
});
byId("retry").addEventListener("click", () => client.retryNow());
refuseDrops(document);
client.onState(showState);
client.onUp(() => registerWorker());
client.connect();
list.start();
setInterval(() => client.state.phase === "waiting" && showState(), 500);

function showState(): void {
  const { phase } = client.state;
  const status = signedOutOf(
    statusOf({
      connection: client.state,
      terminal: { phase: "live" },
      online: navigator.onLine,
      now: performance.now(),
      time: Date.now(),
      connectedBefore: false, // this page takes no input, so the status must not say that input is kept
      readOnly: false,
    }),
    session.signedInWith,
  );
  document.documentElement.dataset.state = status.kind;
  setText(byId("connection"), status.kind === "live" || phase === "signed-out" ? "" : status.text);
  byId("retry").hidden = phase !== "waiting";
  byId("link-ended").hidden = !status.linkEnded;
  showSignIn(phase === "signed-out" && !status.linkEnded, status.text);
  if (status.linkEnded) session.forget();
  byId("sandboxes-new").hidden = list.readOnly || phase === "signed-out";
  const empty = list.complete && list.size === 0 && !list.error;
  byId("empty").hidden = !empty;
  byId("empty-new").hidden = list.readOnly;
  setText(byId("count"), list.size ? String(list.size) : "");
  setText(byId("sandboxes-status"), list.status === "There are no sandboxes." ? "" : list.status);
}

function showSignIn(signedOut: boolean, reason: string): void {
  const dialog = byId("sign-in");
  if (signedOut) setText(byId("sign-in-error"), reason);
  if (dialog.hidden === !signedOut) return;
  dialog.hidden = !signedOut;
  byId("sandboxes-list").inert = signedOut;
  if (!signedOut) return;
  session.forget();
  byId("token").focus();
  const link = byId<HTMLAnchorElement>("single-sign-on");
  // If this fails, the user can still sign in with a token.
  const base = new URL(".", document.baseURI);
  void showSingleSignOn(link, base, location.href, session.proof, session.framed).catch(() => {});
}
