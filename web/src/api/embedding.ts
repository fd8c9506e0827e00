/** Embedding model: the current choice, its progress, and switching to another one; see docs/reference/api.md. */
import { call } from "./http.ts";
import type {
  DocumentReader,
  Embedding,
  EmbeddingChoice as Choice,
  EmbeddingTest,
  TextRecognition,
} from "./schema.ts";

export type { DocumentReader, Embedding, EmbeddingTest as EmbeddingTried, TextRecognition };
/** The app always sends every field. */
export type EmbeddingChoice = Required<Choice>;

const path = "/api/v1/embedding";
export const builtIn = "built-in";

export const getEmbedding = () => call<Embedding>("GET", path);
export const chooseEmbedding = (choice: EmbeddingChoice) => call<Embedding>("PUT", path, choice);
export const tryEmbedding = (choice: EmbeddingChoice) => call<EmbeddingTest>("POST", `${path}/test`, choice);
export const getDocumentReader = () => call<DocumentReader>("GET", "/api/v1/document-reader");
export const getTextRecognition = () => call<TextRecognition>("GET", "/api/v1/text-recognition");
