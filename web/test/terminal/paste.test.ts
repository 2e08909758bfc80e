import { readFileSync } from "node:fs";
import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { encodePaste, type MayPaste, type Pastable, takePastes } from "../../src/terminal/paste";

interface Entry {
  name: string;
  text: string;
  plain: string;
  bracketed: string;
}

const { pastes } = JSON.parse(
  readFileSync(new URL("../../../tests/vectors/pastes.json", import.meta.url), "utf8"),
) as { pastes: Entry[] };
const BRACKETED = "\x1b[?2004h";

function make(mayPaste?: MayPaste) {
  const terminal = new Terminal({ allowProposedApi: true }) as Terminal & Pastable;
  const sent: string[] = [];
  terminal.onData(text => sent.push(text));
  const taken = takePastes(terminal, mayPaste, send => send());
  const write = (text: string) => new Promise<void>(resolve => terminal.write(text, resolve));
  return { terminal, sent, taken, write };
}

test.each(pastes)("pasted text cannot leave its brackets: $name", ({ text, plain, bracketed }) => {
  expect(encodePaste(text, false)).toBe(plain);
  expect(encodePaste(text, true)).toBe(bracketed);
});

test("every control character but tab and line ends becomes a space", () => {
  for (let code = 0; code < 0x100; code++) {
    const character = String.fromCharCode(code);
    const control = code < 32 || (code >= 0x7f && code < 0xa0);
    const expected =
      character === "\n" || character === "\r" ? "\r" : character === "\t" ? "\t" : control ? " " : character;
    expect(encodePaste(character, false)).toBe(expected);
  }
});

test("the terminal's own paste is clean, in brackets if the program has set the mode", async () => {
  const { terminal, sent, write } = make();
  terminal.paste?.("a\x1b[201~b");
  await write(BRACKETED);
  terminal.paste?.("a\x1b[201~\rb");
  expect(sent).toEqual(["a [201~b", "\x1b[200~a [201~\rb\x1b[201~"]);
});

test("several lines are a question, unless the program has set the brackets", async () => {
  const asked: string[] = [];
  let answer = false;
  const { terminal, sent, write } = make(async text => {
    asked.push(text);
    return answer;
  });
  terminal.paste?.("one line");
  terminal.paste?.("ls\n");
  await write("");
  answer = true;
  terminal.paste?.("a\rb");
  await write("");
  await write(BRACKETED);
  terminal.paste?.("c\nd");
  expect(asked).toEqual(["ls\n", "a\rb"]);
  expect(sent).toEqual(["one line", "a\rb", "\x1b[200~c\rd\x1b[201~"]);
});

test("a terminal that takes no input asks nothing and gets nothing", () => {
  const asked: string[] = [];
  const { terminal, sent } = make(text => asked.push(text) > 0);
  terminal.options.disableStdin = true;
  terminal.paste?.("a\nb");
  expect([asked, sent]).toEqual([[], []]);
});

test("an answer after the terminal was left pastes nothing", async () => {
  const { terminal, sent, taken, write } = make(async () => true);
  terminal.paste?.("a\nb");
  taken.dispose();
  await write("");
  expect(sent).toEqual([]);
});
