import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import type { Channel, ChannelHandlers } from "../../src/client/channels";
import { attachXterm } from "../../src/terminal/attach-xterm";

function make() {
  const sent: string[] = [];
  let handlers: ChannelHandlers | undefined;
  let cancelled = 0;
  const channel: Channel = {
    inputCredit: 1_000,
    input: (_, bytes) => sent.push(new TextDecoder().decode(bytes)),
    end: () => {},
    cancel: () => cancelled++,
    consume: () => {},
  };
  const source = {
    open: (_: string, __: object, channelHandlers: ChannelHandlers) => {
      handlers = channelHandlers;
      return channel;
    },
    onUp: () => ({ dispose: () => {} }),
  };
  const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  const attached = attachXterm(terminal as never, source, { sandbox: "local", id: "main" });
  const log: string[] = [];
  terminal.onResize(({ cols }) => log.push(`${cols} columns`));
  attached.onReplayed(() => log.push("replayed"));
  attached.channel.attach();
  const event = (name: string, value: object) => handlers?.event?.(name, value, 0);
  event("opened", {
    start_at: "start",
    from: 0,
    screen: 0,
    input_offset: 0,
    cols: 100,
    rows: 30,
    instance: "i",
  });
  event("live", { offset: 0 });
  return {
    log,
    event,
    attached,
    terminal,
    sent,
    cancelled: () => cancelled,
    data: (payload: Uint8Array) => handlers?.data?.({ kind: 1, ch: 1, offset: 0, payload }, payload.length),
  };
}

function parsed(terminal: Terminal): Promise<void> {
  return new Promise(resolve => terminal.write("", resolve));
}

test("output is written at the terminal's size, and the user's input is sent", async () => {
  const { attached, terminal, sent, data } = make();
  let inputs = 0;
  attached.onUserInput(() => inputs++);
  data(new TextEncoder().encode("hello"));
  await parsed(terminal);
  expect([terminal.cols, terminal.rows]).toEqual([100, 30]);
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("hello");
  terminal.input("ls", true);
  expect([sent, inputs]).toEqual([["ls"], 1]);
});

test("dispose leaves the channel and stops sending", async () => {
  const { attached, terminal, sent, cancelled } = make();
  await parsed(terminal);
  attached.dispose();
  terminal.input("late", true);
  expect([cancelled(), sent]).toEqual([1, []]);
});

test("a replay has ended when the emulator shows it", async () => {
  const { log, event, terminal } = make();
  event("resized", { cols: 120, rows: 30 });
  expect(log).toEqual([]);
  await parsed(terminal);
  expect(log).toEqual(["100 columns", "replayed", "120 columns"]);
});
