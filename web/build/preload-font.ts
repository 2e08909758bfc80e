// Adds a preload of the terminal's regular font to the terminal page. Without it, the browser requests the font only
// when a style uses it, which is after the scripts; the terminal measures its cells with the font and waits for it.

import type { Plugin } from "vite";

const FONT = /jetbrains-mono-latin-400-normal-[^/]*\.woff2$/;

export function preloadFont(): Plugin {
  return {
    name: "hawse-preload-font",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle, path }) {
        if (path !== "/index.html") return [];
        const font = Object.keys(bundle ?? {}).find(name => FONT.test(name));
        if (!font) throw new Error("the build has no font to preload");
        const attrs = { rel: "preload", as: "font", type: "font/woff2", crossorigin: "", href: `./${font}` };
        return [{ tag: "link", attrs, injectTo: "head" }];
      },
    },
  };
}
