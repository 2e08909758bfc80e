// Random connection losses: no byte is lost or duplicated in either direction.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeHarness } from "../fakes/harness";
import { below, randomBytes, seeded } from "../fakes/random";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

for (let seed = 1; seed <= 40; seed++) {
  test(`no byte is lost or duplicated in either direction over random connection losses (seed ${seed})`, async () => {
    const random = seeded(seed);
    const { gateway, client, sink, channel, runUntilIdle } = makeHarness({ random, window: 4_096 });
    gateway.limits.input_window = 1_024;
    gateway.maxFrame = 700;
    const terminal = gateway.terminal("main");
    const typed: number[] = [];
    client.connect();
    channel.attach();

    for (let step = 0; step < 300; step++) {
      const dice = random();
      if (dice < 0.25) terminal.print(randomBytes(random, below(random, 3_000)));
      else if (dice < 0.45) {
        const bytes = randomBytes(random, 1 + below(random, 900));
        expect(channel.send(bytes)).toBe(true);
        typed.push(...bytes);
      } else if (dice < 0.5) gateway.socket?.cut();
      else if (dice < 0.55) await vi.advanceTimersByTimeAsync(below(random, 2_000));
      else if (dice < 0.65) sink.parse(below(random, 4));
      else {
        gateway.pump();
        await vi.advanceTimersByTimeAsync(0);
        gateway.socket?.deliver(random() < 0.5 ? "toServer" : "toClient", below(random, 6));
      }
    }
    await runUntilIdle(20_000);

    expect(gateway.violations).toEqual([]);
    expect(channel.state).toEqual({ phase: "live" });
    expect(Buffer.from(sink.bytes).equals(terminal.output(0))).toBe(true);
    expect(Buffer.from(terminal.typed).equals(Buffer.from(typed))).toBe(true);
    expect(channel.offset).toBe(terminal.end);
    expect(channel.input.applied).toBe(typed.length);
    expect(sink.log.filter(line => line.startsWith("reset"))).toHaveLength(1);
    client.close();
  });
}

for (let seed = 1; seed <= 10; seed++) {
  test(`output that the journal no longer contains is replaced by a snapshot, never skipped (seed ${seed})`, async () => {
    const random = seeded(seed);
    const { gateway, client, sink, channel, runUntilIdle } = makeHarness({ random, window: 4_096 });
    gateway.maxFrame = 300;
    const terminal = gateway.terminal("main");
    client.connect();
    channel.attach();

    for (let step = 0; step < 200; step++) {
      const dice = random();
      if (dice < 0.3) terminal.print(randomBytes(random, below(random, 2_000)));
      else if (dice < 0.36) gateway.socket?.cut();
      else if (dice < 0.4) terminal.start = terminal.end;
      else if (dice < 0.43) gateway.reseed();
      else if (dice < 0.5) await vi.advanceTimersByTimeAsync(below(random, 1_000));
      else {
        sink.parse(below(random, 4));
        gateway.pump();
        await vi.advanceTimersByTimeAsync(0);
        gateway.socket?.deliver(random() < 0.3 ? "toServer" : "toClient", below(random, 5));
      }
    }
    await runUntilIdle(20_000);

    expect(gateway.violations).toEqual([]);
    const shown = Buffer.from(sink.bytes);
    const from = Number(/^<screen at (\d+)>/.exec(shown.toString("latin1"))?.[1] ?? 0);
    const screen = from > 0 ? terminal.snapshot(from).length : 0;
    expect(shown.subarray(screen).equals(terminal.output(from))).toBe(true);
    client.close();
  });
}
