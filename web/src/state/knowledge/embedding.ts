/** Guesses whether a model is an embedding model from its name, since servers do not say. */

const signs =
  /embed|minilm|mpnet|(^|[^a-z0-9])(bge|gte|e5|arctic|gist|paraphrase|sbert|labse|rubert|voyage)([^a-z]|$)/i;

export const isLikelyEmbedding = (id: string): boolean => signs.test(id);
