// Renders untrusted markup in a hidden frame with an opaque origin and without network, created with the first drawing.

import { withBase } from "../api/base.ts";
import type { Drawing, RenderAnswer, RenderRequest } from "../render-frame/protocol";

/** Timeouts for loading the frame and for one drawing. */
const LOAD_MS = 30_000;
const DRAW_MS = 10_000;
/** Maximum size of a drawing, characters. */
const MAX_SVG_CHARS = 5_000_000;
/** Maximum width and height of a drawing, CSS pixels. */
const MAX_SIDE = 100_000;

/** The frame did not respond in time: the markup takes too long to lay out. */
export class DrawingTimeout extends Error {}
/** The frame responded that the markup cannot be rendered. */
export class NotDrawable extends Error {}

let opened: Promise<HTMLIFrameElement> | undefined;
let queue: Promise<unknown> = Promise.resolve();

/**
 * Renders one drawing at a time; rejects with `DrawingTimeout`, `NotDrawable`, or an error if the frame cannot be
 * loaded.
 */
export function render(request: RenderRequest): Promise<Drawing> {
  const drawn = queue.then(async () => ask(await (opened ??= open()), request));
  queue = drawn.catch(() => undefined);
  return drawn;
}

function open(): Promise<HTMLIFrameElement> {
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  frame.src = withBase("/render-frame.html");
  frame.className = "render-frame";
  frame.tabIndex = -1;
  frame.ariaHidden = "true";
  const loaded = new Promise<HTMLIFrameElement>((resolve, reject) => {
    const timer = setTimeout(() => {
      close(frame);
      reject(new Error("the render frame did not load"));
    }, LOAD_MS);
    frame.onload = () => {
      clearTimeout(timer);
      resolve(frame);
    };
  });
  document.body.append(frame);
  return loaded;
}

/** The next drawing opens a new frame. */
function close(frame: HTMLIFrameElement): void {
  frame.remove();
  opened = undefined;
}

function ask(frame: HTMLIFrameElement, request: RenderRequest): Promise<Drawing> {
  const { port1, port2 } = new MessageChannel();
  return new Promise<Drawing>((resolve, reject) => {
    const timer = setTimeout(() => {
      port1.close();
      close(frame);
      reject(new DrawingTimeout("the drawing took too long"));
    }, DRAW_MS);
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      clearTimeout(timer);
      port1.close();
      if (isDrawing(data)) resolve(data);
      else reject(new NotDrawable("this cannot be drawn"));
    };
    // An opaque origin cannot be named; the page's CSP allows the frame no other URL.
    frame.contentWindow?.postMessage(request, "*", [port2]);
  });
}

/** Validates the response: the frame is not trusted either. */
function isDrawing(answer: unknown): answer is Drawing {
  if (typeof answer !== "object" || answer === null) return false;
  const { svg, width, height } = answer as Partial<NonNullable<RenderAnswer>>;
  const isSide = (side: unknown) => typeof side === "number" && side > 0 && side <= MAX_SIDE;
  return typeof svg === "string" && svg.length <= MAX_SVG_CHARS && isSide(width) && isSide(height);
}
