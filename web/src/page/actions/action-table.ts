// Connects the action table to the parts of the page that perform the actions.

import { Actions } from "../../frame/actions";
import type { AppContext } from "../../frame/pane";
import { TERMINAL } from "../../frame/workspace";
import { holdKeys } from "../hold-keys";
import type { LazyParts } from "../lazy-parts";
import type { PageCore } from "../page-core";
import { clampFontSize } from "../settings/settings";
import { pageActions } from "./page-actions";
import type { PaneActions } from "./pane-actions";

export function createActions(page: PageCore, app: AppContext, panes: PaneActions, lazy: LazyParts): Actions {
  const { settings, theme, workspace, rail } = page;
  const { withDialogs, failed } = lazy;
  /** Id of the terminal that shared links point to. */
  const here = () => page.activeTerminal.peek()?.id ?? page.address.terminal;
  const actions = new Actions(page.apple);
  actions.add(
    ...pageActions({
      terminal: () => page.activeTerminal.value?.opened.value,
      readOnly: () => page.readOnly.value,
      holding: () => panes.holding,
      newNotebook: () => panes.newNotebook(),
      newTerminal: place => void panes.newTerminal(place),
      closePane: () => void panes.close(workspace.current.peek()?.active ?? 0),
      stepTab: by => workspace.step(by),
      goPane: side => workspace.go(side),
      walk: by => void import("../regions").then(regions => regions.walkRegions(by)).catch(failed),
      functionKeysFree: () =>
        !document.activeElement?.matches(".xterm-helper-textarea") ||
        page.activeTerminal.peek()?.wantsFunctionKeys !== true,
      focusTerminal: page.focus,
      palette: () => {
        const typed = holdKeys(window);
        withDialogs(dialogs => dialogs.palette(typed));
      },
      quickOpen: () => {
        const typed = holdKeys(window);
        void import("../../views/search/quick-open")
          .then(loaded => loaded.quickOpen(app, typed))
          .catch(failed)
          .finally(typed);
      },
      shortcuts: () => withDialogs(dialogs => dialogs.shortcuts()),
      share: viewOnly => withDialogs(dialogs => dialogs.copyLink(here(), viewOnly)),
      asked: () => page.questions.peek().length > 0,
      goToQuestion: () => {
        // Goes to the next question if the oldest one is already shown.
        const questions = page.questions.peek();
        const shown = questions.findIndex(({ id }) => id === page.activeTerminal.peek()?.id);
        const next = questions[(shown + 1) % questions.length];
        if (next) app.open(TERMINAL, { id: next.id });
      },
      jump: by => page.opened?.commands.jump(by),
      lastCommand: what => withDialogs(dialogs => dialogs.lastCommand(page.opened?.commands, what)),
      openShare: () => withDialogs(dialogs => dialogs.share(here())),
      lease: () => void panes.lease(panes.holding ? "release" : "take"),
      held: () => page.readOnly.peek() === false && page.people.peek()?.people.mayType === false,
      ask: () => lazy.collaboration?.keyboard.ask(),
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
      signOut: () =>
        void import("../session/sign-out").then(({ signOut }) => signOut(app, page.session)).catch(failed),
      railOpen: () => rail.open.value,
      toggleRail: () => {
        rail.open.value = !rail.open.value;
      },
    }),
  );
  return actions;
}
