/** Embedding models are recognised by their names. */
import { expect, test } from "vitest";
import { isLikelyEmbedding } from "./embedding.ts";

test("models for embeddings are told by their names", () => {
  for (const id of [
    "text-embedding-3-small",
    "nomic-embed-text:latest",
    "all-MiniLM-L6-v2",
    "BAAI/bge-m3",
    "intfloat/multilingual-e5-large",
    "gte-qwen2",
  ])
    expect(isLikelyEmbedding(id), id).toBe(true);
  for (const id of ["gpt-4o", "qwen2.5:0.5b", "llama3.1:8b", "claude-sonnet", "phase5", "drbge1"])
    expect(isLikelyEmbedding(id), id).toBe(false);
});
