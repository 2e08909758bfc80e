import { expect, test, vi } from "vitest";
import { watchFile } from "../../../src/views/files/file-watch";

function watching(path: string, items: object[]) {
  const changed = vi.fn();
  const asked: unknown[] = [];
  const box = {
    watch: {
      start: (params: unknown) => {
        asked.push(params);
        return Object.assign(
          (async function* () {
            yield* items;
            await new Promise(() => {});
          })(),
          { cancel: () => {} },
        );
      },
    },
  };
  return { watch: watchFile(box as never, path, changed), changed, asked };
}

test("changes of the file are reported, and changes of its neighbours are not", async () => {
  const changes = (...paths: string[]) => ({
    event: "changes",
    value: { changes: paths.map(path => ({ path })) },
  });
  const { changed, asked, watch } = watching("/w/sub/a.txt", [
    { event: "watching", value: {} },
    changes("/w/sub/b.txt", "/w/sub/xa.txt"),
    changes("/w/sub/b.txt", "/w/sub/a.txt"),
    { event: "rescan", value: {} },
    { event: "watching", value: {} }, // after a lost connection
  ]);
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(3));
  expect(asked).toEqual([{ path: "/w/sub", recursive: false, exclude: [] }]);
  watch.dispose();
});
