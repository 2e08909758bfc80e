import { describe, expect, it } from "vitest";
import {
  keyframeBefore,
  LineSplitter,
  parseEvent,
  parseHeader,
  parseIndex,
  parseSize,
} from "../../src/player/cast";

const encoder = new TextEncoder();

describe("LineSplitter", () => {
  it("returns whole lines from blocks that are split anywhere, also within a character", () => {
    const text = '{"version":3}\n[0.5,"o","häl漢\\n"]\n# comment\n[1,"o","end"]\n';
    const bytes = encoder.encode(text);
    for (let size = 1; size < bytes.length; size++) {
      const lines = new LineSplitter();
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size)
        found.push(...lines.feed(bytes.subarray(at, at + size)));
      expect(found).toEqual(text.split("\n").slice(0, -1));
    }
  });
});

describe("a cast", () => {
  it("has a header with the size, and only version 3 is accepted", () => {
    expect(parseHeader('{"version":3,"term":{"cols":90,"rows":30},"title":"x"}')).toEqual({
      cols: 90,
      rows: 30,
      title: "x",
    });
    expect(() => parseHeader('{"version":2,"width":80,"height":24}')).toThrow("asciicast version 2");
  });

  it("has times relative to the previous event, and comments are skipped", () => {
    expect(parseEvent('[0.250,"o","a"]', 1.5)).toEqual({ at: 1.75, code: "o", data: "a" });
    let at = 0;
    for (let n = 0; n < 10_000; n++) at = parseEvent('[0.001,"o","a"]', at)?.at ?? 0;
    expect(at).toBe(10);
    expect(parseEvent("# nothing", 1.5)).toBeUndefined();
    expect(parseSize("100x30")).toEqual({ cols: 100, rows: 30 });
  });
});

describe("the index", () => {
  it("lists keyframes and markers", () => {
    const keyframe = { t: 1, at: 100, screen: 0, size: 9, cols: 80, rows: 24 };
    const later = { ...keyframe, t: 3, at: 200 };
    const text = [keyframe, { t: 2, label: "here" }, later]
      .map(entry => `${JSON.stringify(entry)}\n`)
      .join("");
    const { keyframes, markers } = parseIndex(encoder.encode(text));
    expect(markers).toEqual([{ t: 2, label: "here" }]);
    expect([0.5, 1, 2.9, 3, 99].map(time => keyframeBefore(keyframes, time)?.at)).toEqual([
      undefined,
      100,
      100,
      200,
      200,
    ]);
  });
});
