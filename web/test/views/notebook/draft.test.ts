import { expect, test } from "vitest";
import { type Draft, DraftStore } from "../../../src/views/notebook/draft";

const DRAFT: Draft = {
  ...{
    language: "bash",
    own: true,
    removed: ["r-1"],
    changed: false,
    edited: false,
    version: "v",
    order: ["a"],
  },
  cells: [{ id: "a", kind: "code", source: "x" }],
};

function storage(values = new Map<string, string>()) {
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

function storeIn(memory: object, draft = DRAFT): DraftStore {
  return new DraftStore({ storage: () => memory as Storage, key: "k", draft: () => draft });
}

test("a draft is read as it was stored, until it is forgotten", () => {
  const memory = storage();
  const store = storeIn(memory);
  store.flush();
  expect(store.read()).toBeUndefined(); // nothing was to be stored
  store.save();
  store.flush();
  expect(store.read()).toEqual(DRAFT);
  store.save();
  store.forget();
  store.flush();
  expect(memory.values.size).toBe(0);
});

test("a draft of an earlier version of the page counts as changed", () => {
  const memory = storage(new Map([["k", '{"language": 1, "cells": [{"id": 1}], "removed": {}}']]));
  expect(storeIn(memory).read()).toMatchObject({
    language: "",
    cells: [],
    removed: [],
    changed: true,
    edited: true,
  });
});

test.each(["", "nonsense", "null"])("%s is no draft", text => {
  expect(storeIn(storage(new Map([["k", text]]))).read()).toBeUndefined();
});

test("without a storage, nothing is kept", () => {
  const forbidden = new DraftStore({
    storage: () => {
      throw new Error("forbidden");
    },
    key: "k",
    draft: () => DRAFT,
  });
  forbidden.save();
  forbidden.flush();
  forbidden.forget();
  expect(forbidden.read()).toBeUndefined();
});
