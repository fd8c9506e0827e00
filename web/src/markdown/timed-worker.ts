// A worker that answers one request at a time and is replaced when an answer takes too long.

export class TimedWorker<Request, Answer> {
  readonly #start: () => Worker;
  readonly #timeoutMs: number;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(start: () => Worker, timeoutMs: number) {
    this.#start = start;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves to `undefined` if the worker failed or did not answer in time. */
  ask(request: Request): Promise<Answer | undefined> {
    const answer = this.#last.then(() => this.#send(request));
    this.#last = answer;
    return answer;
  }

  #send(request: Request): Promise<Answer | undefined> {
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve) => {
      const giveUp = (): void => {
        clearTimeout(timer);
        worker.terminate();
        this.#worker = undefined;
        resolve(undefined);
      };
      const timer = setTimeout(giveUp, this.#timeoutMs);
      worker.onerror = giveUp;
      worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        clearTimeout(timer);
        resolve(data);
      };
      worker.postMessage(request);
    });
  }
}
