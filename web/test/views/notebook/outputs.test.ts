import { expect, test } from "vitest";
import { OUTPUTS_MAX, Outputs, TEXT_MAX } from "../../../src/views/notebook/outputs";

const display = (id?: string) => ({ offset: 1, ...(id === undefined ? {} : { display_id: id }) });

test("text of one stream is joined, and the order of the streams is kept", () => {
  const outputs = new Outputs();
  outputs.text("stdout", "a");
  outputs.text("stdout", "b\n");
  outputs.text("stderr", "c");
  outputs.text("stdout", "d");
  expect(outputs.list.map(each => each.kind === "text" && [each.stream, each.text])).toEqual([
    ["stdout", "ab\n"],
    ["stderr", "c"],
    ["stdout", "d"],
  ]);
});

test("a flood keeps its end, from the beginning of a line", () => {
  const outputs = new Outputs();
  for (let line = 0; line < 3; line++) outputs.text("stdout", `${String(line).repeat(TEXT_MAX / 2)}\n`);
  const [output] = outputs.list;
  expect(output).toMatchObject({ kind: "text", cut: true });
  expect(output?.kind === "text" && output.text).toBe(`${"2".repeat(TEXT_MAX / 2)}\n`);
});

test("too many outputs are dropped", () => {
  const outputs = new Outputs();
  for (let count = 0; count < OUTPUTS_MAX + 5; count++) outputs.display(display(), {});
  expect(outputs.list.length).toBe(OUTPUTS_MAX);
  expect(outputs.dropped).toBe(true);
});

test("a display is updated in its place", () => {
  const outputs = new Outputs();
  outputs.display(display("one"), { "text/plain": "1" });
  outputs.text("stdout", "x");
  expect(outputs.update(display("one"), { "text/plain": "2" })).toBe(true);
  expect(outputs.update(display("other"), {})).toBe(false);
  expect(outputs.list[0]).toMatchObject({ data: { "text/plain": "2" } });
});

test("output is cleared at once or when the next one arrives", () => {
  const outputs = new Outputs();
  outputs.text("stdout", "a");
  outputs.clear(true);
  expect(outputs.list.length).toBe(1);
  outputs.error({ name: "E", value: "v" });
  expect(outputs.list).toEqual([{ kind: "error", name: "E", value: "v", traceback: [] }]);
  outputs.clear(false);
  expect(outputs.list).toEqual([]);
});
