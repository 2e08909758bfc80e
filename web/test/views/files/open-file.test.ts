import { expect, test, vi } from "vitest";
import { openFile } from "../../../src/views/files/open-file";

test.each([
  ["a/b.ipynb", "notebook"],
  ["B.IPYNB", "notebook"],
  ["ipynb", "editor"],
  ["a.ipynb.txt", "editor"],
])("%s opens in the %s", (path, kind) => {
  const open = vi.fn();
  openFile({ open }, path);
  expect(open).toHaveBeenCalledExactlyOnceWith(kind, { path }, "right");
});
