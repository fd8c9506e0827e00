/** Adaptive update rate for streamed content: smooth to the eye, with a bounded share of the main thread. */

/** Text that grows more often does not look smoother. */
const minMs = 80;
const maxMs = 400;
/** An update, layout and paint included, takes about 1/24 of the time. */
const share = 24;
/** Weight of a new measurement in the moving average. */
const weight = 0.25;

export class Pace {
  #shownAt = -Infinity;
  #costMs = 0;

  /** Milliseconds until the next update is due; 0 if it may run now. */
  waitMs(): number {
    const interval = Math.min(maxMs, Math.max(minMs, share * this.#costMs));
    return Math.max(0, this.#shownAt + interval - performance.now());
  }

  /** Runs `work`, which updates the page, and measures how long it takes until painted. */
  show(work: () => void): void {
    const began = performance.now();
    this.#shownAt = began;
    work();
    // Svelte scheduled its flush before this microtask, so the DOM is updated when it runs.
    queueMicrotask(() => {
      const scriptMs = performance.now() - began;
      requestAnimationFrame((frameBegan) => {
        // The frame is one task: a message posted in it is delivered after the paint.
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
