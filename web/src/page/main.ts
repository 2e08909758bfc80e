// The page: creates its parts and connects them.

import "./style/base.css";
import "./style/strip.css";
import "./style/panes.css";
import "./style/overlays.css";
import "./style/key-bar.css";
import { effect } from "@preact/signals";
import { byId } from "../base/dom";
import { Registry } from "../frame/registry";
import { Stage } from "../frame/stage";
import { TERMINAL } from "../frame/workspace";
import { createActions } from "./actions/action-table";
import { PaneActions } from "./actions/pane-actions";
import { appContext } from "./app-context";
import { LazyParts } from "./lazy-parts";
import { PageAddress } from "./page-address";
import { showPageChrome } from "./page-chrome";
import { PageCore } from "./page-core";
import { showStatus } from "./page-status";
import { refuseDrops } from "./refuse-drops";
import { TerminalPane } from "./terminal/terminal-pane";
import { followViewport } from "./touch/viewport";

const page = new PageCore();
const { settings, theme, viewerKey, workspace, rail, disposables } = page;

const registry = new Registry(async () => {
  const { addViews } = await import("../views/register");
  addViews(registry, byId("rail"), rail, app);
});
const panes = new PaneActions(page, () => app);
const lazy = new LazyParts(page, () => ({ app, registry, actions, panes }));
const app = appContext(page);
const actions = createActions(page, app, panes, lazy);

registry.addPane({
  kind: TERMINAL,
  load: async () => (context, state) =>
    new TerminalPane(
      context,
      {
        settings,
        theme,
        viewerKey,
        terminals: page.terminals.list,
        translate: lazy.translate,
        rung: unseen => {
          page.unseenBell.value = unseen;
        },
        cursorMoved: upper => page.overlays.avoid(upper),
        startSandbox: () => void panes.startSandbox(),
        showSandboxes: lazy.showSandboxes,
        failed: lazy.failed,
        preview: ({ port, path }) => panes.preview(port, path),
        typingRefused: holder => {
          if (lazy.collaboration) lazy.collaboration.keyboard.refused();
          else page.toast(`Only ${holder} may type.`);
        },
        following: () => lazy.collaboration?.following.followed.peek() !== undefined,
        close: pane => {
          for (const [id, each] of workspace.panes.peek()) if (each === pane) void panes.close(id);
        },
        closable: () => workspace.tabs.value.length > 1 || workspace.current.value?.tree.type === "split",
        commandMenu: (pane, command, bar) => {
          const open = pane.opened.peek();
          if (open) lazy.withDialogs(dialogs => dialogs.command(open, command, bar));
        },
      },
      state,
    ),
});
const stage = new Stage(byId("panes"), workspace, registry, app, id => void panes.close(id));
refuseDrops(document);
disposables.add(followViewport(), stage, new PageAddress(workspace, () => sessionStorage));
disposables.defer(effect(() => workspace.active.value?.focus()));
disposables.defer(
  effect(() => {
    if (rail.open.value)
      registry.load().catch(() => page.toast("The views could not be loaded. Reload the page."));
  }),
);
const status = showStatus(page, lazy);
actions.listen(window);
showPageChrome(page, { panes, lazy, actions, status });
