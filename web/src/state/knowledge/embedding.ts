/** Which models may be for embeddings: servers do not say it, so their names have to. */

const signs =
  /embed|minilm|mpnet|(^|[^a-z0-9])(bge|gte|e5|arctic|gist|paraphrase|sbert|labse|rubert|voyage)([^a-z]|$)/i;

export const isLikelyEmbedding = (id: string): boolean => signs.test(id);
