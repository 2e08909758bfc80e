// A touch keyboard covers the page without making it smaller; the visual viewport says what is left to be seen.

import { type Disposable, DisposableList } from "../base/disposables";

export function followViewport(): Disposable {
  const disposables = new DisposableList();
  const viewport = window.visualViewport;
  if (!viewport) return disposables;
  const follow = () => {
    // A zoomed page is the user's wish to see a part of it larger, not a smaller page.
    const zoomed = viewport.scale > 1.01;
    const { style } = document.documentElement;
    style.setProperty("--visible-height", zoomed ? "100dvh" : `${viewport.height}px`);
    style.setProperty("--visible-top", zoomed ? "0px" : `${viewport.offsetTop}px`);
  };
  disposables.listen(viewport, "resize", follow);
  disposables.listen(viewport, "scroll", follow);
  follow();
  return disposables;
}
