// The parts of the page that are loaded after the first prompt or when the user needs them.

import { effect } from "@preact/signals";
import { byId } from "../base/dom";
import { registerWorker } from "../base/service-worker";
import { errorText } from "../client/error-text";
import type { Actions } from "../frame/actions";
import type { AppContext } from "../frame/pane";
import type { Registry } from "../frame/registry";
import { TERMINAL } from "../frame/workspace";
import { HawseError } from "../wire/errors";
import type { PaneActions } from "./actions/pane-actions";
import type { PageCore } from "./page-core";
import type { PageDialogs } from "./page-dialogs";
import type { Collaboration } from "./people/collaboration";
import type { SandboxesDialog } from "./sandboxes/sandboxes";
import { NOT_CONNECTED } from "./status";
import type { KeyBar } from "./touch/key-bar";

interface Parts {
  app: AppContext;
  registry: Registry;
  actions: Actions;
  panes: PaneActions;
}

export class LazyParts {
  readonly #page: PageCore;
  readonly #parts: () => Parts;
  readonly #phone = matchMedia("(pointer: coarse), (max-width: 600px)");
  /** Style sheets that failed to load but that the module loader considers loaded. */
  readonly #lost = new Set<HTMLLinkElement>();
  #keyBar: KeyBar | undefined;
  #sandboxes: Promise<SandboxesDialog> | undefined;
  #dialogs: Promise<PageDialogs> | undefined;
  #collaboration: Collaboration | undefined;
  #loading: Promise<void> | undefined;
  #ports: Promise<void> | undefined;
  #questions: Promise<void> | undefined;

  constructor(page: PageCore, parts: () => Parts) {
    this.#page = page;
    this.#parts = parts;
    page.disposables.listen(this.#phone, "change", () => void this.showKeys());
    const lose = ({ target }: Event) => {
      if (target instanceof HTMLLinkElement && target.rel === "stylesheet") this.#lost.add(target);
    };
    page.disposables.listen(window, "error", lose, { capture: true });
    page.disposables.add(page.client.onUp(() => this.#requestStyles()));
    page.disposables.defer(
      effect(() => {
        // Only terminals need the key bar. Its element exists even before the first pane does.
        byId("keys").hidden = page.workspace.active.value !== undefined && !page.activeTerminal.value;
      }),
    );
  }

  /** Applies the modifier keys pressed on the key bar to typed text. */
  readonly translate = (text: string): string => this.#keyBar?.translate(text) ?? text;

  /** Fills the key bar on devices that show it. */
  async showKeys(): Promise<void> {
    if (!this.#phone.matches || this.#keyBar) return;
    // If the module can't be loaded, the next call tries again.
    const loaded = await import("./touch/key-bar").catch(() => undefined);
    if (!loaded || this.#keyBar) return;
    this.#keyBar = new loaded.KeyBar(byId("keys"), () => this.#page.opened?.terminal);
    this.#page.disposables.add(this.#keyBar);
  }

  /** Undefined until the module has been loaded. */
  get collaboration(): Collaboration | undefined {
    return this.#collaboration;
  }

  /** Shows the viewers. If loading fails, it is retried the next time the state changes. */
  async showCollaboration(): Promise<void> {
    this.#loading ??= import("./people/collaboration").then(loaded => {
      const { app, panes } = this.#parts();
      this.#collaboration = new loaded.Collaboration(this.#page, app, panes);
      this.#page.disposables.add(this.#collaboration);
    });
    await this.#loading.catch(() => {
      this.#loading = undefined;
    });
  }

  /**
   * Shows the ports that programs are listening on. If loading fails, it is retried the next time the state changes.
   */
  async showPorts(): Promise<void> {
    const { client, sandbox, workspace, ports, disposables, focus } = this.#page;
    this.#ports ??= import("./ports").then(({ PortNotice }) => {
      const { preview } = this.#parts().panes;
      const storage = () => localStorage;
      disposables.add(new PortNotice(client, { sandbox, workspace, ports, storage, preview, focus }));
    });
    await this.#ports.catch(() => {
      this.#ports = undefined;
    });
  }

  /**
   * Shows programs' questions in the page's icon and in notifications. If loading fails, it is retried the next time
   * the state changes.
   */
  async showQuestions(): Promise<void> {
    this.#questions ??= import("./shell/question-notices").then(({ QuestionNotices }) => {
      const { questions, readOnly, disposables } = this.#page;
      const show = (id: string) => this.#parts().app.open(TERMINAL, { id });
      disposables.add(new QuestionNotices({ stage: byId("stage"), questions, readOnly, show }));
    });
    await this.#questions.catch(() => {
      this.#questions = undefined;
    });
  }

  readonly showSandboxes = (): void => {
    const { client, sandbox } = this.#page;
    this.#requestStyles();
    this.#sandboxes ??= import("./sandboxes/sandboxes").then(
      loaded => new loaded.SandboxesDialog(client, sandbox),
    );
    void this.#sandboxes
      .then(dialog => dialog.show())
      .catch(problem => {
        this.#sandboxes = undefined;
        this.failed(problem);
      });
  };

  readonly withDialogs = (work: (dialogs: PageDialogs) => unknown): void => {
    this.#dialogs ??= this.#loadDialogs();
    void this.#dialogs.then(work).catch(problem => {
      this.#dialogs = undefined;
      this.failed(problem);
    });
  };

  #requestStyles(): void {
    for (const link of this.#lost) {
      this.#lost.delete(link);
      link.replaceWith(Object.assign(document.createElement("link"), { rel: "stylesheet", href: link.href }));
    }
  }

  /** Shows why a module couldn't be loaded or why an action failed. */
  readonly failed = (problem: Error): void => {
    const { client, toast } = this.#page;
    if (problem instanceof HawseError) toast(errorText(problem));
    // The browser's message contains a file name, so it isn't shown.
    else if (client.state.phase !== "live") toast(`Not loaded yet. ${NOT_CONNECTED}`);
    else toast("This part of the page could not be loaded. Reload the page.");
  };

  async #loadDialogs(): Promise<PageDialogs> {
    this.#requestStyles();
    const loaded = await import("./page-dialogs");
    const { apple, readOnly, session, workspace } = this.#page;
    const guestToken = () => (readOnly.peek() ? session.guestToken : undefined);
    return new loaded.PageDialogs({ ...this.#parts(), workspace, mac: apple, guestToken });
  }

  /** Loads the fonts that aren't needed for the first prompt. */
  fonts(): void {
    void import("./terminal/fonts").then(fonts => fonts.loadFonts()).catch(() => {});
  }

  async preload(): Promise<void> {
    registerWorker();
    await (await import("./idle-loading")).afterPrompt(this.#page.rail);
    const { uploadHost } = await import("../views/files/upload-host");
    uploadHost(this.#parts().app);
    const stage = document.querySelector<HTMLElement>(".pane.active > .stage, .stage");
    if (stage) await (await import("./drafts/unsaved-files")).announceUnsaved(this.#parts().app, stage);
  }

  /** Loaded separately because most users are already signed in. */
  async offerSingleSignOn(): Promise<void> {
    const { showSingleSignOn } = await import("./session/single-sign-on");
    const base = new URL(".", document.baseURI);
    const { framed, proof } = this.#page.session;
    await showSingleSignOn(byId("single-sign-on"), base, location.href, proof, framed);
  }
}
