// The public interface `hawse/xterm`, which requires the `@xterm/xterm` package:
//
//   terminal.loadAddon(new HawseAddon(client, { sandbox: "local", id: "main" }));

export { type AttachedTerminal, attachXterm } from "./terminal/attach-xterm";
export { HawseAddon, type HawseAddonOptions } from "./terminal/hawse-addon";
export type { Emulator } from "./terminal/sink";
export { type Size, SizeProposer, type SizeProposerOptions } from "./terminal/size-proposer";
export { type Correctable, correctXterm } from "./terminal/xterm-fixes";
