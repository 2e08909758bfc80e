// Implements the page's interface for panes and rail views.

import type { GatewayClient } from "../client/client";
import type { AppContext } from "../frame/pane";
import type { PageCore } from "./page-core";
import { copyText } from "./terminal/clipboard";

/** Width in CSS pixels below which files and previews open in new tabs; must match panes.css. */
const NARROW = 700;

export function appContext(page: PageCore): AppContext {
  const { client, sandbox, readOnly, facts, lastTerminal, toast, workspace, rail, session } = page;
  return {
    client,
    sandbox,
    workspace,
    readOnly,
    directory: facts.directory,
    people: page.peopleContext,
    terminal: lastTerminal,
    toast,
    open: (kind, state, place) => {
      // A narrow page has no room for two panes side by side.
      const narrow = innerWidth < NARROW;
      const where = place === "right" && narrow ? "tab" : place;
      if (narrow) rail.open.value = false; // on a narrow page, the rail covers the panes
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
      for (const [id, each] of workspace.panes.peek())
        if (each === pane) workspace.setState(id, pane.state());
    },
    copy: async text => {
      toast((await copyText(text)) ? "Copied." : "The browser does not allow this page to copy.");
    },
    screen: async (element, host) =>
      (await import("./terminal/screen")).openScreen(element, host, page.settings.value, page.theme),
    ticket: () => session.downloadTicket(),
    drafts: async () => {
      const { pageDrafts } = await import("./drafts/page-drafts");
      return pageDrafts(await identityOf(client), page.viewerKey);
    },
    run: line => {
      page.opened?.terminal.paste(line);
      page.opened?.terminal.input("\r");
    },
    focus: page.focus,
  };
}

/** Waits for the gateway's first `welcome`, because until then the page doesn't know who its user is. */
async function identityOf(client: GatewayClient): Promise<string> {
  if (!client.welcome)
    await new Promise<void>(resolve => {
      const waiting = client.onUp(() => {
        waiting.dispose();
        resolve();
      });
    });
  return client.welcome?.identity ?? "";
}
