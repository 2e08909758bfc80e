// Adds preloads of the emulator to the terminal page. Its module is imported dynamically, so that the page connects while
// xterm.js is still being loaded; without the preloads, the browser would request it only after the other scripts.

import type { Plugin } from "vite";

const MODULE = "/src/page/terminal/emulator.ts";

export function preloadEmulator(): Plugin {
  return {
    name: "hawse-preload-emulator",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {}, path }) {
        if (path !== "/index.html") return [];
        const chunks = Object.values(bundle).filter(output => output.type === "chunk");
        const emulator = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(MODULE));
        if (!emulator) throw new Error("the build has no emulator to preload");
        const names = new Set([emulator.fileName]);
        for (const name of names) {
          const imports = chunks.find(({ fileName }) => fileName === name)?.imports ?? [];
          for (const each of imports) names.add(each); // the loop comes to them, too
        }
        return [...names]
          .filter(name => !html.includes(name))
          .map(name => ({
            tag: "link",
            attrs: { rel: "modulepreload", crossorigin: "", href: `./${name}` },
            injectTo: "head" as const,
          }));
      },
    },
  };
}
