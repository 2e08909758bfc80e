// The parts of the page around the panes: the tab strip with its buttons, the viewers and the status line.

import { effect, type ReadonlySignal } from "@preact/signals";
import { h, render } from "preact";
import { byId } from "../base/dom";
import type { Actions } from "../frame/actions";
import type { PaneActions } from "./actions/pane-actions";
import type { LazyParts } from "./lazy-parts";
import { tabLink } from "./page-address";
import type { PageCore } from "./page-core";
import { TabStrip } from "./shell/tab-strip";
import type { Status } from "./status";
import { StatusLine } from "./status-line";

export interface ChromeOptions {
  panes: PaneActions;
  lazy: LazyParts;
  actions: Actions;
  status: ReadonlySignal<Status>;
}

export function showPageChrome(page: PageCore, { panes, lazy, actions, status }: ChromeOptions): void {
  const { workspace, terminals, readOnly, sandbox, facts, rail, disposables } = page;
  const { withDialogs, showSandboxes } = lazy;
  render(
    h(TabStrip, {
      workspace,
      terminals: terminals.list,
      readOnly,
      href: tab => tabLink(location.href, tab),
      open: () => actions.run("terminal.new"),
      more: from =>
        withDialogs(dialogs =>
          dialogs.newMenu(from, ["terminal.new", "split.right", "split.below", "notebook.new"]),
        ),
      list: (from, tabs) => withDialogs(dialogs => dialogs.list("Tabs", from, tabs)),
      close: tab => void panes.closeTab(tab),
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
      ports: page.ports,
      recording: facts.recording,
      size: facts.size,
      status,
      railOpen: rail.open,
      toggleRail: () => actions.run("rail"),
      showSandboxes: showSandboxes,
      preview: panes.preview,
      useMySize: () => void page.activeTerminal.peek()?.useMySize(),
    }),
    byId("status-line"),
  );
  byId("sandboxes").ariaLabel = `Sandbox ${sandbox}. All sandboxes`;
  disposables.listen(byId("sandboxes"), "click", showSandboxes);
  disposables.listen(byId("more"), "click", () => withDialogs(dialogs => dialogs.menu("More", byId("more"))));
  disposables.listen(byId("share"), "click", () => actions.run("share"));
  disposables.defer(
    effect(() => {
      byId("share").hidden = readOnly.value;
    }),
  );
  disposables.listen(byId("palette"), "click", () => actions.run("palette"));
  byId("palette").title = `All commands (${actions.shortcut("palette")})`;
}
