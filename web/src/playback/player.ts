// Plays a recording into an emulator: the time that runs, what is due, and where to begin for a place in between.
// It knows no page; seeking costs the same wherever it goes, since it begins at the nearest screen of the index.

import { Emitter } from "../base/disposables";
import { HawseError } from "../wire/errors";
import type { RecordingInfo } from "../wire/methods";
import { type Marker, type Place, parseIndex, parseSize, placeBefore } from "./cast";
import { CastCursor } from "./cast-cursor";
import type { RecordingSource } from "./source";

export interface Stage {
  reset(): void;
  resize(cols: number, rows: number): void;
  /** `done` when it has been parsed. */
  write(data: string | Uint8Array, done: () => void): void;
}

export interface Clock {
  now(): number;
  after(milliseconds: number, action: () => void): () => void;
}

export type Phase = "loading" | "paused" | "playing" | "ended" | "failed";

/** Milliseconds between two looks at the clock while nothing else is due. */
const TICK = 50;
/** Milliseconds: what is due sooner is due now. */
const LEAST = 1;
/** Milliseconds that showing what is due may take; then it goes on from a screen further on. */
const PATIENCE = 200;
/** Characters handed to the emulator at a time. */
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
  #places: Place[] = [];
  /** Seconds: what the stage shows has come by then. */
  #reached = 0;
  /** Where to go; undefined once we are there. */
  #target: number | undefined;
  #running = false;
  #wake = () => {};
  phase: Phase = "loading";
  error: HawseError | undefined;
  info: RecordingInfo | undefined;
  markers: Marker[] = [];
  /** Seconds. */
  time = 0;
  duration = 0;
  speed = 1;
  /** Seconds that a pause in the recording is waited for at most. */
  idleLimit = Number.POSITIVE_INFINITY;

  constructor(source: RecordingSource, stage: Stage, clock: Clock = browserClock) {
    this.#source = source;
    this.#stage = stage;
    this.#clock = clock;
  }

  readonly onChange = this.#onChange.on;

  /** Nothing is on its way to a place. */
  get settled(): boolean {
    return this.#target === undefined;
  }

  /** Throws HawseError. */
  async load(): Promise<void> {
    await this.#look();
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
    this.#drive();
  }

  pause(): void {
    if (this.phase !== "playing") return;
    this.#set("paused");
    this.#wake();
  }

  /** Shows the recording as it was at `time`, and goes on playing if it did. */
  seek(time: number): void {
    if (this.phase === "loading" || this.phase === "failed") return;
    this.#target = this.time = Math.min(Math.max(time, 0), this.duration);
    this.#set(this.phase === "ended" ? "paused" : this.phase);
    this.#drive();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.#onChange.emit();
    this.#wake();
  }

  dispose(): void {
    this.phase = "paused";
    this.#wake();
  }

  #set(phase: Phase): void {
    this.phase = phase;
    this.#onChange.emit();
  }

  /** One thing after the other: whoever presses buttons only says what is wanted. */
  #drive(): void {
    this.#wake();
    if (this.#running) return;
    this.#running = true;
    this.#work()
      .catch((problem: unknown) => {
        if (!(problem instanceof HawseError)) throw problem;
        this.error = problem;
        this.#set("failed");
      })
      .finally(() => {
        this.#running = false;
      });
  }

  async #work(): Promise<void> {
    while (this.#target !== undefined || this.phase === "playing") {
      if (this.#target !== undefined) await this.#jump(this.#target);
      else await this.#step();
    }
  }

  async #look(): Promise<void> {
    const [info, index] = await Promise.all([this.#source.info(), this.#source.read("index", 0)]);
    this.info = info;
    this.duration = info.duration;
    ({ places: this.#places, markers: this.markers } = parseIndex(index));
  }

  async #jump(target: number): Promise<void> {
    const place = placeBefore(this.#places, target);
    if (!this.#cursor || target < this.#reached || (place && place.t > this.#reached))
      await this.#begin(place);
    await this.#advance(target, () => this.#target === target);
    if (this.#target !== target) return;
    this.#target = undefined;
    this.#onChange.emit();
  }

  async #begin(place: Place | undefined): Promise<void> {
    const cursor = new CastCursor(this.#source, place?.at ?? 0, place?.t ?? 0);
    const screen = place && (await this.#source.read("screens", place.screen, place.size));
    if (!place) await cursor.fill();
    this.#stage.reset();
    const { cols, rows } = place ?? cursor.header ?? { cols: 80, rows: 24 };
    this.#stage.resize(cols, rows);
    if (screen) await this.#write(screen);
    this.#cursor = cursor;
    this.#reached = place?.t ?? 0;
  }

  /** Shows everything up to `target` while that is wanted. The time of what comes then; undefined at the end. */
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

  /** Plays for a moment. */
  async #step(): Promise<void> {
    const begun = this.#clock.now();
    const speed = this.speed;
    const late = () => this.#clock.now() - begun >= PATIENCE;
    const wanted = () => this.#target === undefined && this.phase === "playing";
    const due = await this.#advance(this.time, () => wanted() && !late());
    if (!wanted()) return;
    if (late()) await this.#catchUp();
    else if (this.time >= this.duration && (due === undefined || due > this.duration)) {
      if (await this.#isOver()) this.#set("ended");
      else await this.#pause(TICK);
      return;
    } else await this.#await(due, speed);
    if (!wanted()) return;
    const passed = ((this.#clock.now() - begun) / 1000) * speed;
    this.time = Math.min(this.time + passed, this.duration);
    this.#onChange.emit();
  }

  /** More has come by now than could be shown: what lies before the last screen by now is left out. */
  async #catchUp(): Promise<void> {
    const place = placeBefore(this.#places, this.time);
    if (place && place.t > this.#reached) await this.#begin(place);
  }

  async #await(due: number | undefined, speed: number): Promise<void> {
    if (due !== undefined && due - this.time > this.idleLimit) this.time = due - this.idleLimit;
    const left = (due ?? this.duration) - this.time;
    await this.#pause(Math.max(LEAST, Math.min((left * 1000) / speed, TICK)));
  }

  /** A recording that goes on may have more by now. */
  async #isOver(): Promise<boolean> {
    if (this.info?.state !== "recording") return true;
    const before = this.duration;
    await this.#look();
    return this.info.state !== "recording" && this.duration <= before;
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#clock.after(milliseconds, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #write(data: string | Uint8Array): Promise<void> {
    return data.length ? new Promise(resolve => this.#stage.write(data, resolve)) : Promise.resolve();
  }
}
