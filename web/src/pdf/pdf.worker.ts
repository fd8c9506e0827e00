// Parses PDFs with pdf.js. Runs in the worker, so that a slow document cannot block the page.

import "pdfjs-dist/legacy/build/pdf.worker.mjs";
