// The public API for pages that embed hawse:
//
//   const client = new HawseClient({ base: "https://gateway.example/", token });
//   client.connect();
//   await client.call("terminal.create", { id: "main", cols, rows }, { sandbox: "local", key: randomId() });
//   const attached = attachXterm(xterm, client, { sandbox: "local", id: "main" });
//   attached.channel.attach();

export { type Disposable, DisposableList, Emitter } from "./base/disposables";
export { randomId } from "./base/random-id";
export type {
  AllMethods,
  CallArguments,
  CallRequest,
  MethodName,
  MethodParams,
  MethodResult,
} from "./client/calls";
export type { Channel, ChannelHandlers } from "./client/channels";
export { type ClientOptions, DEFAULT_WINDOW, HawseClient } from "./client/client";
export type { ConnectionState } from "./connection/reconnecting";
export { type AttachedTerminal, attachXterm } from "./terminal/attach-xterm";
export type { Emulator, TerminalSink } from "./terminal/sink";
export { type Size, SizeProposer, type SizeProposerOptions } from "./terminal/size-proposer";
export { type TerminalAddress, TerminalChannel, type TerminalState } from "./terminal/terminal-channel";
export { type Correctable, correctXterm } from "./terminal/xterm-fixes";
export { HawseError, MisuseError, ProtocolViolation } from "./wire/errors";
export type * from "./wire/methods";
export type * from "./wire/protocol";
