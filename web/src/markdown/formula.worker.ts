// The worker that typesets long formulas: one response per request, in order.

import { formulaHtml, type FormulaRequest } from "./formula-html";

addEventListener("message", ({ data }: MessageEvent<FormulaRequest>) => postMessage(formulaHtml(data)));
