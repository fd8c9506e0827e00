/** Draws a page of a PDF: its picture, and above it its text, invisible but for the marked passage. */
import { TextLayer, type PDFPageProxy, type RenderTask } from "pdfjs-dist/legacy/build/pdf.mjs";
import { findPassage } from "../state/knowledge/passage.ts";
import { readingOrder } from "../state/knowledge/reading-order.ts";
import { markIn } from "../state/knowledge/mark.ts";

/** Some browsers draw nothing on a larger canvas. */
const MAX_CANVAS_PIXELS = 16_000_000;

type TextContent = Awaited<ReturnType<PDFPageProxy["getTextContent"]>>;

export interface Drawing {
  canvas: HTMLCanvasElement;
  text: HTMLElement;
  /** The marks of the passage. */
  marks: HTMLElement[];
}

/** Draws the page with a width in CSS pixels. Ends without a result when the signal is aborted. */
export async function drawPage(
  page: PDFPageProxy,
  width: number,
  passage: string,
  near: number,
  signal: AbortSignal,
): Promise<Drawing | null> {
  const scale = width / page.getViewport({ scale: 1 }).width;
  const viewport = page.getViewport({ scale });
  const density = densityOf(viewport.width, viewport.height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(viewport.width * density));
  canvas.height = Math.max(1, Math.floor(viewport.height * density));
  const task = page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
  const text = document.createElement("div");
  text.className = "pdf-text";
  const content = await page.getTextContent();
  const layer = new TextLayer({ textContentSource: content, container: text, viewport });
  signal.addEventListener("abort", () => stop(task, layer), { once: true });
  if (signal.aborted) stop(task, layer);
  try {
    await Promise.all([task.promise, layer.render()]);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
  return signal.aborted ? null : { canvas, text, marks: marksIn(layer, content, passage, near) };
}

function stop(task: RenderTask, layer: TextLayer) {
  task.cancel();
  layer.cancel();
}

/** Pixels of the canvas for each CSS pixel. */
function densityOf(width: number, height: number): number {
  const most = Math.sqrt(MAX_CANVAS_PIXELS / Math.max(1, width * height));
  return Math.min(devicePixelRatio || 1, most);
}

function marksIn(layer: TextLayer, content: TextContent, passage: string, near: number): HTMLElement[] {
  if (passage === "") return [];
  const items = content.items.filter((item) => "str" in item);
  const order = readingOrder(
    items.map(({ str, dir, transform, height }) => {
      const [x = 0, y = 0] = (transform as number[]).slice(4);
      return { str, dir, x, y, height };
    }),
  );
  const ranges = findPassage(order.map((index) => items[index]?.str ?? ""), passage, near); // prettier-ignore
  const nodes = order.map((index) => layer.textDivs[index]?.firstChild);
  return markIn(nodes, ranges ?? []);
}
