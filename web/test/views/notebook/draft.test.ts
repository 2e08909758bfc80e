import { expect, test } from "vitest";
import { type NotebookDraft, readDraft } from "../../../src/views/notebook/draft";

test("a draft is read as it was kept", () => {
  const draft: NotebookDraft = {
    language: "bash",
    own: true,
    removed: ["r-1"],
    cells: [{ id: "a", kind: "code", source: "x" }],
    changed: false,
    edited: false,
    order: ["a"],
  };
  expect(readDraft(JSON.stringify(draft))).toEqual(draft);
});

test("a draft of another version of the page counts as changed", () => {
  expect(readDraft('{"language": 1, "cells": [{"id": 1}], "removed": {}}')).toMatchObject({
    language: "",
    cells: [],
    removed: [],
    changed: true,
    edited: true,
  });
});

test.each(["", "nonsense", "null"])("%s is not a draft", text => {
  expect(readDraft(text)).toBeUndefined();
});
