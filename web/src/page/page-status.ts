// Shows the state of the connection and the active terminal in overlays and in the page title.

import { computed, effect, type ReadonlySignal } from "@preact/signals";
import { byId } from "../base/dom";
import { visible } from "../base/visible";
import type { LazyParts } from "./lazy-parts";
import type { PageCore } from "./page-core";
import { BY_SESSION } from "./session/session";
import { type Status, signedOutOf, statusOf } from "./status";

/** Milliseconds between requests that keep the session alive; unused sessions expire after days. */
const SESSION_USE = 3_600_000;

/** Optional modules are loaded this many milliseconds after the first prompt, even if the page is still busy. */
const PRELOAD_DELAY = 500;

/** Shows the status in the page until the page is closed. Returns a signal with the current status. */
export function showStatus(page: PageCore, lazy: LazyParts): ReadonlySignal<Status> {
  const { client, overlays, session, workspace, disposables, readOnly } = page;
  const status = computed<Status>(() => {
    page.connection.value;
    const terminal = page.activeTerminal.value;
    const found =
      terminal?.state$.value ??
      statusOf({
        connection: client.state,
        terminal: { phase: "live" },
        online: navigator.onLine,
        now: performance.now(),
        time: Date.now(),
        connectedBefore: true,
        readOnly: false,
      });
    return signedOutOf(found, session.signedInWith);
  });
  disposables.add(
    overlays.onRetry(() => client.retryNow()),
    overlays.onSignIn(token => {
      session.signIn(token);
      client.signIn(BY_SESSION);
    }),
    overlays.onKind(kind => {
      if (kind === "live") void lazy.showKeys();
      if (kind === "live" || kind === "ended") {
        void lazy.showCollaboration();
        void lazy.showPorts();
        void lazy.showQuestions();
      }
      if (kind === "live" || kind === "ended" || kind === "signed-out" || kind === "failed") lazy.fonts();
      if (kind === "signed-out") {
        session.forget();
        void lazy.offerSingleSignOn().catch(() => {}); // if this fails, the user can still enter a token
      }
      if (kind !== "live") return;
      // A text field in the rail keeps the focus after the connection is lost.
      if (!document.activeElement?.closest(".rail")) page.focus();
      // Preloads the dialogs that the user will probably open, because keys typed while they load must not go to the
      // terminal.
      whenIdle(() => void lazy.preload().catch(() => {})); // if this fails, the next connection tries again
    }),
  );
  const refresh = () => {
    page.connection.value++;
    page.activeTerminal.peek()?.refresh();
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
      const title = workspace.active.value?.title.value;
      const first = page.address.terminal;
      const name = visible(!title || title === first ? `${title || "hawse"} @ ${page.sandbox}` : title);
      const waiting = page.questions.value.length ? "(waiting) " : "";
      document.title = `${page.unseenBell.value ? "● " : ""}${waiting}${name} · hawse`;
    }),
  );
  every(500, () => client.state.phase === "waiting" && refresh());
  every(SESSION_USE, () => void session.keep().catch(() => {}));
  return status;

  function every(milliseconds: number, work: () => void): void {
    const timer = setInterval(work, milliseconds);
    disposables.defer(() => clearInterval(timer));
  }
}

/** Safari has no `requestIdleCallback`. */
function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: PRELOAD_DELAY });
  else setTimeout(work, PRELOAD_DELAY);
}
