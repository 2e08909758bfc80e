import { beforeEach, describe, expect, it } from "vitest";
import { type Clock, Player, type Stage } from "../../src/player/player";
import type { Part, RecordingSource } from "../../src/player/source";
import { HawseError } from "../../src/wire/errors";
import type { RecordingInfo } from "../../src/wire/methods";

const encoder = new TextEncoder();

/** A line every second, `0 ` to `99 `, and a keyframe every ten seconds whose screen summarises the lines before it. */
class FakeRecording implements RecordingSource {
  readonly files: Record<Part, Uint8Array>;
  readonly reads: string[] = [];
  broken: HawseError | undefined;

  constructor() {
    let cast = '{"version":3,"term":{"cols":80,"rows":24}}\n';
    let index = "";
    let screens = "";
    for (let second = 0; second < 100; second++) {
      if (second % 10 === 0 && second > 0) {
        const painted = `<${second}>`;
        const keyframe = { t: second - 1, at: cast.length, screen: screens.length, size: painted.length };
        index += `${JSON.stringify({ ...keyframe, cols: 100, rows: 30 })}\n`;
        screens += painted;
      }
      cast += `[${second === 0 ? 0 : 1},"o","${second} "]\n`;
    }
    index += '{"t":42,"label":"here"}\n';
    cast += '[0,"r","90x20"]\n[30,"o","late"]\n[0,"x","0"]\n';
    const bytes = [cast, index, screens].map(text => encoder.encode(text));
    this.files = { cast: bytes[0], index: bytes[1], screens: bytes[2] } as Record<Part, Uint8Array>;
  }

  async info(): Promise<RecordingInfo> {
    return { id: "r", duration: 129, state: "finished", size: this.files.cast.length } as RecordingInfo;
  }

  async read(part: Part, offset: number, length = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    if (this.broken) throw this.broken;
    this.reads.push(part);
    return this.files[part].slice(offset, part === "cast" ? offset + Math.min(length, 100) : offset + length);
  }
}

class FakeStage implements Stage {
  text = "";
  size = "";
  /** Called before each write completes. */
  beforeDone = () => {};
  reset(): void {
    this.text = "";
  }
  resize(cols: number, rows: number): void {
    this.size = `${cols}x${rows}`;
  }
  write(data: string | Uint8Array, done: () => void): void {
    this.text += typeof data === "string" ? data : new TextDecoder().decode(data);
    this.beforeDone();
    queueMicrotask(done);
  }
}

class FakeClock implements Clock {
  time = 0;
  #due: { at: number; action: () => void } | undefined;
  now(): number {
    return this.time;
  }
  after(milliseconds: number, action: () => void): () => void {
    const due = { at: this.time + milliseconds, action };
    this.#due = due;
    return () => {
      if (this.#due === due) this.#due = undefined;
    };
  }
  async pass(seconds: number): Promise<void> {
    const end = this.time + seconds * 1000;
    for (;;) {
      await runMicrotasks();
      const due = this.#due;
      if (!due || due.at > end) break;
      this.#due = undefined;
      this.time = due.at;
      due.action();
    }
    this.time = end;
  }
}

async function runMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}

const makeSource = () => new FakeRecording();
let source = makeSource();
let stage = new FakeStage();
let clock = new FakeClock();
let player = new Player(source, stage, clock);

beforeEach(async () => {
  source = makeSource();
  stage = new FakeStage();
  clock = new FakeClock();
  player = new Player(source, stage, clock);
  await player.load();
  await runMicrotasks();
});

describe("a player", () => {
  it("shows the beginning first and has the markers", () => {
    expect([player.phase, stage.text, stage.size]).toEqual(["paused", "0 ", "80x24"]);
    expect(player.markers).toEqual([{ t: 42, label: "here" }]);
    expect(player.duration).toBe(129);
  });

  it("plays in real time, at the chosen speed", async () => {
    player.play();
    await clock.pass(3.5);
    expect(stage.text).toBe("0 1 2 3 ");
    player.setSpeed(4);
    await clock.pass(1);
    expect(stage.text).toBe("0 1 2 3 4 5 6 7 ");
    player.pause();
    await clock.pass(10);
    expect(Math.abs(player.time - 7.5)).toBeLessThan(0.25); // a tick, at that speed
    expect(stage.text).toBe("0 1 2 3 4 5 6 7 ");
  });

  it("seeks from the nearest keyframe and reads only from there", async () => {
    source.reads.length = 0;
    player.seek(55.5);
    await runMicrotasks();
    expect([stage.text, stage.size, player.time]).toEqual(["<50>50 51 52 53 54 55 ", "100x30", 55.5]);
    expect(source.reads.length).toBeLessThan(5);
    player.seek(57);
    await runMicrotasks();
    expect(stage.text).toBe("<50>50 51 52 53 54 55 56 57 ");
    player.seek(3);
    await runMicrotasks();
    expect([stage.text, stage.size]).toEqual(["0 1 2 3 ", "80x24"]);
  });

  it("seeks to the last of several targets", async () => {
    for (const time of [90, 10, 75.5, 20, 33]) player.seek(time);
    await runMicrotasks();
    expect([stage.text, player.time, player.settled]).toEqual(["<30>30 31 32 33 ", 33, true]);
  });

  it("keeps playing after a seek", async () => {
    player.play();
    await clock.pass(1.2);
    player.seek(80);
    await clock.pass(2.1);
    expect(stage.text).toBe("<80>80 81 82 ");
    expect(player.phase).toBe("playing");
  });

  it("shortens a pause to the idle limit, and ends", async () => {
    player.idleLimit = 2;
    player.seek(98.5);
    player.play();
    await clock.pass(0.7);
    expect(stage.size).toBe("90x20");
    await clock.pass(2);
    expect(stage.text).toContain("late");
    await clock.pass(0.2);
    expect([player.phase, player.time]).toEqual(["ended", 129]);
    player.play();
    await clock.pass(1.1);
    expect(stage.text).toBe("0 1 ");
  });

  it("skips to a keyframe when there is more output than can be shown in time", async () => {
    stage.beforeDone = () => {
      if (clock.time < 4_000) clock.time += 300;
    };
    player.setSpeed(16);
    player.play();
    await clock.pass(4.1);
    expect(stage.text).toMatch(/^<[56]0>.* 6\d $/);
    expect(Math.abs(player.time - 4.1 * 16)).toBeLessThan(10); // two writes, at that speed
    player.pause();
    const shown = stage.text;
    await clock.pass(10);
    expect(stage.text).toBe(shown);
  });

  it("reports an error", async () => {
    source.broken = new HawseError("not_found", "deleted");
    player.seek(70);
    await runMicrotasks();
    expect([player.phase, player.error?.code]).toEqual(["failed", "not_found"]);
  });
});
