// Plays a recording in an emulator: runs the clock, writes events when they are due, and seeks. It is independent of
// the page. A seek starts at the nearest keyframe, so its cost doesn't depend on the position.

import { Emitter } from "../base/disposables";
import { HawseError } from "../wire/errors";
import type { RecordingInfo } from "../wire/methods";
import { type Keyframe, keyframeBefore, type Marker, parseIndex, parseSize } from "./cast";
import { CastCursor } from "./cast-cursor";
import type { RecordingSource } from "./source";

export interface Stage {
  reset(): void;
  resize(cols: number, rows: number): void;
  /** `done` is called once `data` has been parsed. */
  write(data: string | Uint8Array, done: () => void): void;
}

export interface Clock {
  now(): number;
  after(milliseconds: number, action: () => void): () => void;
}

export type Phase = "loading" | "paused" | "playing" | "ended" | "failed";

/** Milliseconds between updates of the time while no event is due. */
const TICK = 50;
/** Minimum timer duration in milliseconds. */
const MIN_DELAY = 1;
/** Maximum time spent writing events that are due, in milliseconds; after that, playback skips to a later keyframe. */
const MAX_CATCH_UP = 200;
/** Maximum number of characters per write to the emulator. */
const CHUNK = 262_144;

export const browserClock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, action) => {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};

export class Player {
  readonly #source: RecordingSource;
  readonly #stage: Stage;
  readonly #clock: Clock;
  readonly #onChange = new Emitter<void>();
  #cursor: CastCursor | undefined;
  #keyframes: Keyframe[] = [];
  /** The time of the last event shown on the stage, in seconds. */
  #reached = 0;
  /** The time to seek to, in seconds; undefined if no seek is pending. */
  #target: number | undefined;
  #running = false;
  #interrupt = () => {};
  phase: Phase = "loading";
  error: HawseError | undefined;
  info: RecordingInfo | undefined;
  markers: Marker[] = [];
  /** Seconds. */
  time = 0;
  duration = 0;
  speed = 1;
  /** Maximum length of a pause in the recording, in seconds; longer pauses are shortened. */
  idleLimit = Number.POSITIVE_INFINITY;

  constructor(source: RecordingSource, stage: Stage, clock: Clock = browserClock) {
    this.#source = source;
    this.#stage = stage;
    this.#clock = clock;
  }

  readonly onChange = this.#onChange.on;

  /** Whether no seek is pending. */
  get settled(): boolean {
    return this.#target === undefined;
  }

  /** Throws HawseError. */
  async load(): Promise<void> {
    await this.#loadIndex();
    this.phase = "paused";
    this.seek(0);
  }

  toggle(): void {
    if (this.phase === "playing") this.pause();
    else this.play();
  }

  play(): void {
    if (this.phase === "loading" || this.phase === "failed") return;
    if (this.phase === "ended") this.#target = this.time = 0;
    this.#set("playing");
    this.#start();
  }

  pause(): void {
    if (this.phase !== "playing") return;
    this.#set("paused");
    this.#interrupt();
  }

  /** Shows the recording at `time` (in seconds), and continues playing if it was playing. */
  seek(time: number): void {
    if (this.phase === "loading" || this.phase === "failed") return;
    this.#target = this.time = Math.min(Math.max(time, 0), this.duration);
    this.#set(this.phase === "ended" ? "paused" : this.phase);
    this.#start();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.#onChange.emit();
    this.#interrupt();
  }

  dispose(): void {
    this.phase = "paused";
    this.#interrupt();
  }

  #set(phase: Phase): void {
    this.phase = phase;
    this.#onChange.emit();
  }

  /**
   * Starts the loop if it isn't running. Buttons only set the target and the phase, and the loop acts on them one at a
   * time.
   */
  #start(): void {
    this.#interrupt();
    if (this.#running) return;
    this.#running = true;
    this.#run()
      .catch((problem: unknown) => {
        if (!(problem instanceof HawseError)) throw problem;
        this.error = problem;
        this.#set("failed");
      })
      .finally(() => {
        this.#running = false;
      });
  }

  async #run(): Promise<void> {
    while (this.#target !== undefined || this.phase === "playing") {
      if (this.#target !== undefined) await this.#jump(this.#target);
      else await this.#step();
    }
  }

  async #loadIndex(): Promise<void> {
    const [info, index] = await Promise.all([this.#source.info(), this.#source.read("index", 0)]);
    this.info = info;
    this.duration = info.duration;
    ({ keyframes: this.#keyframes, markers: this.markers } = parseIndex(index));
  }

  async #jump(target: number): Promise<void> {
    const keyframe = keyframeBefore(this.#keyframes, target);
    if (!this.#cursor || target < this.#reached || (keyframe && keyframe.t > this.#reached))
      await this.#begin(keyframe);
    await this.#advance(target, () => this.#target === target);
    if (this.#target !== target) return;
    this.#target = undefined;
    this.#onChange.emit();
  }

  async #begin(keyframe: Keyframe | undefined): Promise<void> {
    const cursor = new CastCursor(this.#source, keyframe?.at ?? 0, keyframe?.t ?? 0);
    // If a keyframe has no size, the events that follow in the cast contain the whole screen, as in desktop recordings.
    const screen = keyframe?.size
      ? await this.#source.read("screens", keyframe.screen, keyframe.size)
      : undefined;
    if (!keyframe) await cursor.fill();
    this.#stage.reset();
    const { cols, rows } = keyframe ?? cursor.header ?? { cols: 80, rows: 24 };
    this.#stage.resize(cols, rows);
    if (screen) await this.#write(screen);
    this.#cursor = cursor;
    this.#reached = keyframe?.t ?? 0;
  }

  /**
   * Writes the events up to `target` while `wanted()` returns true. Returns the time of the next event; undefined at
   * the end.
   */
  async #advance(target: number, wanted: () => boolean): Promise<number | undefined> {
    const cursor = this.#cursor;
    let text = "";
    const flush = async () => {
      const now = text;
      text = "";
      await this.#write(now);
    };
    while (cursor && wanted()) {
      const event = cursor.next;
      if (!event) {
        await flush();
        if (!(await cursor.fill())) return undefined;
      } else if (event.at > target) {
        await flush();
        return event.at;
      } else {
        cursor.take();
        this.#reached = event.at;
        if (event.code === "o") text += event.data;
        if (event.code === "r" || text.length >= CHUNK) await flush();
        if (event.code === "r") {
          const { cols, rows } = parseSize(event.data);
          this.#stage.resize(cols, rows);
        }
      }
    }
    await flush();
    return undefined;
  }

  /** Plays until the next event or tick. */
  async #step(): Promise<void> {
    const begun = this.#clock.now();
    const speed = this.speed;
    const late = () => this.#clock.now() - begun >= MAX_CATCH_UP;
    const wanted = () => this.#target === undefined && this.phase === "playing";
    const due = await this.#advance(this.time, () => wanted() && !late());
    if (!wanted()) return;
    if (late()) await this.#catchUp();
    else if (this.time >= this.duration && (due === undefined || due > this.duration)) {
      if (await this.#hasEnded()) this.#set("ended");
      else await this.#pause(TICK);
      return;
    } else await this.#await(due, speed);
    if (!wanted()) return;
    const passed = ((this.#clock.now() - begun) / 1000) * speed;
    this.time = Math.min(this.time + passed, this.duration);
    this.#onChange.emit();
  }

  /** Called when playback can't keep up with the output: skips to the last keyframe before the current time. */
  async #catchUp(): Promise<void> {
    const keyframe = keyframeBefore(this.#keyframes, this.time);
    if (keyframe && keyframe.t > this.#reached) await this.#begin(keyframe);
  }

  async #await(due: number | undefined, speed: number): Promise<void> {
    if (due !== undefined && due - this.time > this.idleLimit) this.time = due - this.idleLimit;
    const left = (due ?? this.duration) - this.time;
    await this.#pause(Math.max(MIN_DELAY, Math.min((left * 1000) / speed, TICK)));
  }

  /** Whether the recording has ended; a recording in progress may have grown. */
  async #hasEnded(): Promise<boolean> {
    if (this.info?.state !== "recording") return true;
    const before = this.duration;
    await this.#loadIndex();
    return this.info.state !== "recording" && this.duration <= before;
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#clock.after(milliseconds, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }

  #write(data: string | Uint8Array): Promise<void> {
    return data.length ? new Promise(resolve => this.#stage.write(data, resolve)) : Promise.resolve();
  }
}
