/** When news is shown next: as often as the eye wants it, but for no more than a small share of the page's time. */

/** More often than this nobody sees. */
const minMs = 33;
const maxMs = 400;
/** Showing news, layout and paint included, takes about one part in so many of the time. */
const share = 24;
/** How much of the estimate one new measurement is. */
const weight = 0.25;

export class Pace {
  #shownAt = -Infinity;
  #costMs = 0;

  /** Milliseconds until the next showing is due; 0 where it may be now. */
  waitMs(): number {
    const interval = Math.min(maxMs, Math.max(minMs, share * this.#costMs));
    return Math.max(0, this.#shownAt + interval - performance.now());
  }

  /** Does `work`, which changes the page, and measures what that takes until it is painted. */
  show(work: () => void): void {
    const began = performance.now();
    this.#shownAt = began;
    work();
    // Svelte has asked for its own turn before us, so the page's elements are changed by then.
    queueMicrotask(() => {
      const scriptMs = performance.now() - began;
      requestAnimationFrame((frameBegan) => {
        // The frame is one task: what is sent in it arrives when it has been painted.
        const painted = new MessageChannel();
        painted.port1.onmessage = () => {
          painted.port1.close();
          const costMs = scriptMs + Math.max(0, performance.now() - frameBegan);
          this.#costMs += weight * (costMs - this.#costMs);
        };
        painted.port2.postMessage(null);
      });
    });
  }
}
