import { expect, test } from "vitest";
import { appended, spansOf } from "../../../src/views/notebook/ansi";

test("colours and styles become spans, and other sequences are left out", () => {
  const spans = spansOf("a\x1b[31mred\x1b[1;48;5;226mboth\x1b[0m\x1b[2Kz\x1b]0;title\x07");
  expect(spans).toEqual([
    { text: "a", style: {} },
    { text: "red", style: { color: "var(--ansi-1)" } },
    {
      text: "both",
      style: { color: "var(--ansi-1)", fontWeight: "700", background: "rgb(255 255 0)" },
    },
    { text: "z", style: {} },
  ]);
});

test.each([
  ["38;2;1;2;300", "rgb(1 2 255)"],
  ["38;5;9", "var(--ansi-9)"],
  ["38;5;232", "rgb(8 8 8)"],
  ["97", "var(--ansi-15)"],
])("the colour %s is %s", (code, color) => {
  expect(spansOf(`\x1b[${code}mx`)).toEqual([{ text: "x", style: { color } }]);
});

test("a style ends with its own code", () => {
  const last = spansOf("\x1b[1;3;4;32;41mx\x1b[22;23;24;39;49my").at(-1);
  expect(last).toEqual({ text: "y", style: {} });
});

test("a carriage return redraws the line, also across chunks", () => {
  expect(appended("", "10%\r20%")).toBe("20%");
  let text = "";
  for (const chunk of ["start\n 1%\r", "50%\r", "100%", "\n", "end"]) text = appended(text, chunk);
  expect(text).toBe("start\n100%\nend");
  expect(appended("", "longer\rab\n")).toBe("abnger\n");
  expect(appended("", "line\r\nnext\r\n")).toBe("line\nnext\n");
  expect(appended("", "\x1b[32mlong\x1b[0m\rab")).toBe("ab");
});
