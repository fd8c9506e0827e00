/** All Simplified Chinese texts. */
export { dictionary } from "./dictionary.ts";
export { sentences } from "./sentences.ts";
