/** Opens PDFs with pdf.js. A large chunk: loaded only when a PDF is shown. */
import { getDocument, PDFWorker, type PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import { characterMaps, decoderFolder } from "./parts.ts";

export type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist/legacy/build/pdf.mjs";

/** Larger images are left out. */
const MAX_IMAGE_PIXELS = 100_000_000;
/** Only errors are written to the console. */
const ERRORS = 0;

export interface OpenPdf {
  document: PDFDocumentProxy;
  /** Ends all work on it. */
  close: () => void;
}

/** Reads character maps, which old Chinese, Japanese and Korean documents refer to by name. */
class CharacterMaps {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const address = characterMaps[filename];
    if (!address) throw new Error(`unknown character map ${filename}`);
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${filename}: ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }
}

/** Opens the PDF at a URL in a worker of its own. Scripts in it never run. */
export async function openPdf(url: string, signal: AbortSignal): Promise<OpenPdf> {
  const port = new Worker(new URL("./pdf.worker.ts", import.meta.url), { type: "module" });
  const worker = PDFWorker.create({ port });
  const loading = getDocument({
    url,
    worker,
    BinaryDataFactory: CharacterMaps,
    cMapUrl: "cmaps/",
    // The page's policy forbids WebAssembly: images are decoded by scripts.
    useWasm: false,
    useWorkerFetch: false,
    wasmUrl: decoderFolder,
    useSystemFonts: true,
    disableWorkerRendering: true,
    maxImageSize: MAX_IMAGE_PIXELS,
    verbosity: ERRORS,
  });
  const close = () => {
    // The worker may be busy and answer late.
    void loading.destroy().catch(() => undefined);
    worker.destroy();
    port.terminate();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    // A worker that cannot be loaded never answers.
    const failed = new Promise<never>((_, reject) => {
      port.addEventListener("error", () => reject(new Error("the PDF worker failed")), { once: true });
    });
    const document = await Promise.race([loading.promise, failed]);
    return { document, close };
  } catch (error) {
    close();
    throw error;
  }
}
