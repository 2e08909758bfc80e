// A terminal's features other than its screen. They're in a separate chunk that is loaded after the server has sent the
// terminal's initial output, so programs' requests in older output are ignored.

import "./style/extras.css";
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { AppContext, Progress } from "../frame/pane";
import type { TerminalChannel } from "../terminal/terminal-channel";
import { LinkedCommand } from "./commands/command-link";
import type { Commands } from "./commands/commands";
import { StickyCommand } from "./commands/sticky-command";
import { type Cell, Pointers } from "./people/pointers";
import { Predictions } from "./prediction/predictions";
import { WaitingKeys } from "./prediction/waiting-keys";
import { ShellDivider } from "./shell/shell-divider";
import { type FoldOptions, ShellFold } from "./shell/shell-fold";
import { Images } from "./terminal/images";
import { JumpPill } from "./terminal/jump-pill";
import { Mouse } from "./terminal/mouse";
import { ProgramClipboard } from "./terminal/program-clipboard";
import { ProgramNotices } from "./terminal/program-notices";
import { TouchScroll } from "./touch/touch";

export interface ExtrasOptions {
  readonly stage: HTMLElement;
  readonly host: HTMLElement;
  readonly terminal: Terminal;
  readonly channel: TerminalChannel;
  readonly commands: Commands;
  /** The terminal's name. */
  readonly title: () => string;
  readonly readOnly: () => boolean;
  /** Whether the pane is visible in the current tab. */
  readonly visible: () => boolean;
  readonly app: AppContext;
  readonly find: () => void;
  /** Called when the user has clicked a link. */
  readonly activate: (uri: string) => void;
  readonly fold: Omit<FoldOptions, "channel" | "title" | "readOnly" | "info" | "focusTerminal">;
  readonly point: (at: Cell | null) => void;
  readonly progress: (progress: Progress | undefined) => void;
}

export function addExtras(options: ExtrasOptions): Disposable {
  const { stage, host, terminal, channel, commands, app, visible } = options;
  const { client, toast } = app;
  const { id, sandbox } = channel.address;
  const info = () => client.call("terminal.get", { id }, { sandbox });
  const show = () => app.open("terminal", { id }); // makes this pane the active one, because it is already open
  const disposables = new DisposableList();
  const inView = () => visible() && !document.hidden && document.hasFocus();
  const notices = new ProgramNotices(stage, terminal, { ...options, toast, show, visible: inView });
  const predictions = new Predictions(host, terminal, channel);
  const links = new WebLinksAddon((_event, uri) => options.activate(uri));
  terminal.loadAddon(links);
  disposables.add(
    links,
    new TouchScroll(host, terminal),
    new JumpPill(stage, terminal),
    new Pointers(stage, terminal, channel.people, options.point),
    new Mouse(stage, host, terminal, { ...options, toast }),
    new Images(terminal, {
      storage: () => sessionStorage,
      key: `hawse.images.${channel.address.sandbox}.${channel.address.id}`,
      instance: () => channel.info?.instance,
      lost: () => toast("Images from before the reload are not shown: the server keeps only text."),
    }),
    new LinkedCommand(terminal, { ...options, client }, toast),
    new StickyCommand(stage, terminal, commands),
    predictions,
    new WaitingKeys(host, terminal, channel, {
      predicted: () => predictions.shown,
      // Whether a command is running. A shell that doesn't report its commands is assumed to be at its prompt.
      secret: () => !commands.atPrompt && commands.last !== undefined,
    }),
    new ShellDivider(terminal, channel),
    new ShellFold(stage, { ...options, ...options.fold, info, focusTerminal: () => terminal.focus() }),
    notices,
    new ProgramClipboard(stage, terminal, {
      toast,
      // If several pages show the terminal, the page where the user is typing handles the request.
      inUse: () => inView() && channel.people.mayType && channel.input.end > 0,
    }),
    channel.onState(state => {
      if (state.phase !== "ended") return;
      notices.endProgress();
      commands.end(state.exit?.code ?? undefined);
    }),
    // A program that was killed doesn't end its progress, so the next prompt does.
    terminal.parser.registerOscHandler(133, data => {
      if (data.startsWith("A")) notices.endProgress();
      return false;
    }),
  );
  return disposables;
}
