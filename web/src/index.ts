// The public interface of the npm package `hawse`:
//
//   const client = new HawseClient({ base: "https://gateway.example/", token });
//   client.connect();
//   const { text } = await client.sandbox("local").exec("uname -a");
//   terminal.loadAddon(new HawseAddon(client, { sandbox: "local", id: "main" })); // an xterm.js terminal

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
export type { ExecOutcome, Namespace, ProcessOutput, SandboxHandle, WriteOptions } from "./client/sandbox";
export { MethodStream, type StreamData, type StreamItem } from "./client/streams";
export type { ConnectionState } from "./connection/reconnecting";
export { type AttachedTerminal, attachXterm } from "./terminal/attach-xterm";
export { HawseAddon, type HawseAddonOptions } from "./terminal/hawse-addon";
export type { Emulator, TerminalSink } from "./terminal/sink";
export { type Size, SizeProposer, type SizeProposerOptions } from "./terminal/size-proposer";
export { type TerminalAddress, TerminalChannel, type TerminalState } from "./terminal/terminal-channel";
export { type Correctable, correctXterm } from "./terminal/xterm-fixes";
export { HawseError, MisuseError, ProtocolViolation } from "./wire/errors";
export type * from "./wire/methods";
export type * from "./wire/protocol";
export type { StreamMethod } from "./wire/streams";
