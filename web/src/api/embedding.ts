/** The embedding model: what is in force, how far it is, and another one; see docs/reference/api.md. */
import type { Words } from "./events.ts";
import { call } from "./http.ts";

export interface EmbeddingChoice {
  /** The id of a model here, `built-in`, empty for none; null for what the configuration says. */
  model: string | null;
  query_prefix: string;
  passage_prefix: string;
}

export interface Embedding {
  /** In force; null where words alone serve. */
  model: string | null;
  query_prefix: string;
  passage_prefix: string;
  /** Whether it was chosen in the page. */
  is_chosen: boolean;
  configured: string | null;
  /** Known as soon as there is a vector. */
  dimensions: number | null;
  progress: { documents: number; whole: number; failed: number; pieces: number; done: number };
  problem: (Words & { code: string }) | null;
  /** Models before it, whose vectors serve meanwhile. */
  earlier: { model: string; documents: number }[];
  built_in_problem: Words | null;
}

export interface EmbeddingTried {
  took_ms: number;
  dimensions: number | null;
  problem: Words | null;
}

const path = "/api/v1/embedding";
export const builtIn = "built-in";

export const getEmbedding = () => call<Embedding>("GET", path);
export const chooseEmbedding = (choice: EmbeddingChoice) => call<Embedding>("PUT", path, choice);
export const tryEmbedding = (choice: EmbeddingChoice) => call<EmbeddingTried>("POST", `${path}/test`, choice);
