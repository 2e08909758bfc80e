// Event subscriptions and their disposal. A subscriber keeps the returned Disposable; a DisposableList disposes of all
// of an object's subscriptions together.

export interface Disposable {
  dispose(): void;
}

export class DisposableList implements Disposable {
  readonly #list: Disposable[] = [];

  add(...disposables: Disposable[]): void {
    this.#list.push(...disposables);
  }

  /** Calls `undo` when the list is disposed. */
  defer(undo: () => void): void {
    this.#list.push({ dispose: undo });
  }

  /** Adds a DOM event listener; disposing the list removes it. */
  listen<E extends Event = Event>(
    target: EventTarget,
    type: string,
    listener: (event: E) => void,
    options?: Parameters<EventTarget["addEventListener"]>[2],
  ): void {
    target.addEventListener(type, listener as EventListener, options);
    this.defer(() => target.removeEventListener(type, listener as EventListener, options));
  }

  dispose(): void {
    for (const disposable of this.#list.splice(0).reverse()) disposable.dispose();
  }
}

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Subscribes a listener. This is an arrow function so that an owner can expose it as its own property. */
  readonly on = (listener: (value: T) => void): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  emit(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
