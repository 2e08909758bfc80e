import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { type CursorRow, cellsBefore, PredictedLine } from "../../../src/page/prediction/predicted-line";

const COLS = 20;

/** A user and a program in one row. */
class Play {
  readonly line = new PredictedLine();
  readonly #row = { before: "$ ", atEnd: true, cols: COLS };
  #moved = true;
  now = 0;
  #typed = 0;
  #applied = 0;

  types(text: string): this {
    this.#typed += text.length;
    const end = this.#typed;
    this.line.typed(text, this.#look(), this.now, () => this.#applied >= end);
    return this;
  }

  /** The server has applied `count` keys in all. */
  applies(count: number): this {
    this.#applied = count;
    return this;
  }

  waits(milliseconds: number): this {
    for (const end = this.now + milliseconds; this.now < end; this.now += 50) this.line.tick(this.now);
    return this;
  }

  /** The row before the cursor is now `before`. */
  prints(before: string, more: Partial<CursorRow> = {}): this {
    Object.assign(this.#row, { atEnd: true, ...more, before });
    this.#moved ||= more.moved === true;
    this.echo = this.line.printed(this.#look(), this.now);
    return this;
  }

  echo: number | undefined;

  /** The text of the row. */
  get shown(): string {
    const prediction = this.line.predicted({ ...this.#row, moved: false });
    if (!prediction) return this.#row.before;
    const { column, text, width } = prediction;
    expect(text.length).toBeLessThanOrEqual(width);
    return this.#row.before.slice(0, column) + text;
  }

  #look(): CursorRow {
    const moved = this.#moved;
    this.#moved = false;
    return { ...this.#row, moved };
  }
}

const prompted = () => new Play().types("l").prints("$ l");

test("characters are shown after the first echo, until the program has printed them", () => {
  const play = new Play().types("ls");
  expect(play.shown).toBe("$ ");
  expect(play.prints("$ l").types(" -").shown).toBe("$ ls -");
  expect(play.prints("$ ls").shown).toBe("$ ls -");
  expect(play.prints("$ ls -").line.since).toBeUndefined();
});

test("a backspace removes predicted and printed text, but not the prompt", () => {
  const play = prompted().types("xy\x7f");
  expect(play.shown).toBe("$ lx");
  expect(play.types("\x7f\x7f").shown).toBe("$ ");
  expect(play.types("a").shown).toBe("$ a");
  expect(play.prints("$ lxy").prints("$ lx").prints("$ ").prints("$ a").shown).toBe("$ a");
  expect(prompted().types("\x7f\x7f\x7f").shown).toBe("$ ");
});

test("output that does not agree ends the predictions until the next echo", () => {
  const play = prompted().types("ab").prints("$ lx");
  expect(play.shown).toBe("$ lx");
  expect(play.types("c").shown).toBe("$ lx");
  expect(play.prints("$ lxc").types("d").shown).toBe("$ lxcd");
});

test("text typed after the end of a line is not shown before the program has echoed part of it", () => {
  const play = prompted().types("s\rsecret");
  expect(play.shown).toBe("$ ls");
  play.prints("Password: ", { moved: true }).types("secret");
  expect(play.shown).toBe("Password: ");
  expect(play.types("\r").prints("$ ", { moved: true }).types("a").prints("$ a").types("b").shown).toBe(
    "$ ab",
  );
});

test.each(["\x1b[D", "\t", "\x03", "漢", "\x15"])(
  "after the key %j nothing is predicted up to the next line",
  key => {
    const play = prompted().types(`${key}ab`);
    expect(play.shown).toBe("$ l");
    expect(play.prints("$ ", { moved: true }).types("a").prints("$ a").types("b").shown).toBe("$ ab");
  },
);

test("nothing is predicted before other text in the row, and at the margin", () => {
  expect(prompted().prints("$ l", { atEnd: false }).types("a").shown).toBe("$ l");
  const long = "x".repeat(COLS);
  expect(prompted().types(long).shown).toBe(`$ l${"x".repeat(COLS - 5)}`);
});

test("columns are cells, also behind characters of two cells and combined ones", async () => {
  const terminal = new Terminal({ cols: COLS, rows: 2, allowProposedApi: true });
  await new Promise<void>(done => terminal.write("~/文档e\u0301𐐷\x1b[11G$ l", done));
  const { active } = terminal.buffer;
  const row = active.getLine(0);
  if (!row) throw new Error("no row");
  const before = cellsBefore(row, active.cursorX);
  expect(before).toHaveLength(active.cursorX);
  expect(before).toMatch(/^~\/文 档 .. +\$ l$/);
  const line = new PredictedLine();
  const look = (end: number) => ({ moved: false, before: before.slice(0, end), atEnd: true, cols: COLS });
  const applied = () => false;
  line.typed("ls", look(active.cursorX - 1), 0, applied);
  line.printed(look(active.cursorX), 0);
  expect(line.predicted(look(active.cursorX))).toEqual({ column: active.cursorX, text: "s", width: 1 });
  line.typed("x".repeat(COLS), look(active.cursorX), 0, applied);
  const limited = line.predicted(look(active.cursorX));
  expect(active.cursorX + (limited?.width ?? 0)).toBe(COLS - 2);
  terminal.dispose();
});

test("a program that stops its echo in the middle of a row ends the predictions, however fast is typed", () => {
  const play = new Play().types("y").applies(1).prints("$ y"); // read -n1 answer; read -s password
  for (const [index, key] of [..."secretpassword"].entries()) {
    play.types(key).waits(100).applies(index); // the server has applied each key 300 ms after it was typed
    expect(play.shown).toBe(index < 5 ? `$ y${"secretpassword".slice(0, index + 1)}` : "$ y");
  }
  expect(play.line.since).toBeUndefined();
  expect(play.types("x").waits(50).shown).toBe("$ y");
});

test("predictions stay while the server has not applied the keys, and while each is echoed", () => {
  const play = prompted().applies(1).types("abc").waits(5_000);
  expect(play.shown).toBe("$ labc");
  expect(play.types("d").applies(4).waits(150).prints("$ la").waits(150).prints("$ lab").shown).toBe(
    "$ labcd",
  );
  expect(play.waits(300).shown).toBe("$ lab");
});

test("the first echo of a row may take longer, because nothing is shown before it", () => {
  const play = new Play().types("ls").applies(2).waits(900);
  expect(play.prints("$ l").shown).toBe("$ ls");
  expect(new Play().types("ls").applies(2).waits(1_100).prints("$ l").types("x").shown).toBe("$ l");
});

test("predictions that the program will not echo are given up", () => {
  const play = prompted().types("ab");
  play.line.giveUp();
  expect(play.types("c").shown).toBe("$ l");
  expect(play.line.since).toBeUndefined();
});

test("an echo has the time of its key", () => {
  const play = new Play().types("a");
  play.now = 30;
  play.types("b");
  play.now = 100;
  expect(play.prints("$ ab").echo).toBe(70);
});

test("any keys, echoed at any time, end in the program's output", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 300; round++) {
    const play = new Play();
    const queue: string[] = [];
    let line = "";
    const work = (count: number) => {
      for (const key of queue.splice(0, count)) line = key === "\x7f" ? line.slice(0, -1) : line + key;
      play.prints(`$ ${line}`);
    };
    for (let step = 0; step < 12; step++) {
      const key = "ab\x7f"[random(3)] as string;
      if (line.length + queue.length < 12) {
        queue.push(key);
        play.types(key);
      }
      work(random(3));
    }
    work(queue.length);
    expect(play.shown).toBe(`$ ${line}`);
  }
});
