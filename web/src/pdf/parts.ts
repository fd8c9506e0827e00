/** Addresses of the parts of pdf.js that only few documents need. */

import { withBase } from "../api/base.ts";

/** The character maps that a PDF may refer to by name (ISO 32000, table 116), and those from characters to Unicode. */
const files = import.meta.glob<string>(
  [
    "/node_modules/pdfjs-dist/cmaps/Adobe-{CNS1,GB1,Japan1,Korea1}-UCS2.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{GB-EUC,GBpc-EUC,GBK-EUC,GBKp-EUC,GBK2K,UniGB-UCS2,UniGB-UTF16}-{H,V}.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{B5pc,HKscs-B5,ETen-B5,ETenms-B5,CNS-EUC,UniCNS-UCS2,UniCNS-UTF16}-{H,V}.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{83pv-RKSJ,90ms-RKSJ,90msp-RKSJ,90pv-RKSJ,Add-RKSJ,EUC,Ext-RKSJ}-{H,V}.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{UniJIS-UCS2,UniJIS-UCS2-HW,UniJIS-UTF16}-{H,V}.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{KSC-EUC,KSCms-UHC,KSCms-UHC-HW,KSCpc-EUC,UniKS-UCS2,UniKS-UTF16}-{H,V}.bcmap",
    "/node_modules/pdfjs-dist/cmaps/{H,V}.bcmap",
  ],
  { query: "?url", import: "default", eager: true },
);

/** URLs of the character maps by file name. */
export const characterMaps: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(files).map(([path, url]) => [path.slice(path.lastIndexOf("/") + 1), url]),
);

declare const __PDF_DECODERS__: string;
/** The folder of the decoders for JBIG2 and JPEG 2000 images, which `build/pdf-decoders.ts` adds to the build. */
export const decoderFolder = import.meta.env.DEV
  ? "/node_modules/pdfjs-dist/wasm/"
  : withBase(__PDF_DECODERS__);
