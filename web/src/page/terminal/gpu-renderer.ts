// Loads the renderer that draws on the GPU, if there is a GPU.

let found: boolean | undefined;

/** Names of renderers that draw on the CPU in Chromium, Mesa and Windows. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether WebGL draws on a GPU. On the CPU, WebGL is several times slower than xterm.js's DOM renderer. */
export function hasGpu(): boolean {
  found ??= findGpu();
  return found;
}

/** Returns the renderer, which is a separate chunk; undefined if it can't be loaded. */
export function loadGpuRenderer(): Promise<typeof import("@xterm/addon-webgl") | undefined> {
  return import("@xterm/addon-webgl").catch(() => undefined);
}

function findGpu(): boolean {
  const context = document
    .createElement("canvas")
    .getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = context.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
  context.getExtension("WEBGL_lose_context")?.loseContext(); // browsers limit the number of WebGL contexts
  return !SOFTWARE.test(String(name));
}
