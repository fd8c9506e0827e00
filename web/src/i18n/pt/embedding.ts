/** Portuguese texts for the embedding model settings. */
import type { Entry } from "../index.svelte.ts";
import type { embedding as en } from "../en/embedding.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "Busca semântica",
  "embedding.intro":
    "Com um modelo de embeddings, os trechos são encontrados pelo significado, não só por palavras-chave.",
  "embedding.inForce": "Modelo ativo",
  "embedding.none": "Desativado (só palavras-chave)",
  "embedding.builtIn": "Integrado (inglês)",
  "embedding.from.page": "escolhido aqui",
  "embedding.from.configuration": "da configuração",
  "embedding.dimensions": "Dimensões",
  "embedding.notYet": "conhecidas após o primeiro documento",
  "embedding.progress": "Documentos",
  "embedding.done": "{whole} de {documents} prontos ({percent}%)",
  "embedding.failed": { one: "{count} com falha", many: "{count} com falha", other: "{count} com falha" },
  "embedding.noDocuments": "Nenhum documento ainda",
  "embedding.earlier": "Até lá, é usado {model}, com {count} documentos.",
  "embedding.problem": "Em pausa. {message}",
  "embedding.choose": "Modelo",
  "embedding.asConfigured": "Da configuração ({model})",
  "embedding.likely": "Prováveis modelos de embeddings",
  "embedding.others": "Outros modelos",
  "embedding.noModels":
    "Para escolher um modelo de embeddings aqui, conecte um servidor de modelos que tenha um.",
  "embedding.queryPrefix": "Prefixo da consulta",
  "embedding.passagePrefix": "Prefixo do trecho",
  "embedding.prefixHint": "Alguns modelos precisam de um; veja a documentação do modelo. Os espaços contam.",
  "recognition.noScript": "Instale também os dados “osd” para detectar a escrita de uma página.",
  "recognition.install": "Instale o Tesseract com seus idiomas, por exemplo:",
  "recognition.missing": "Indisponível. {cause}",
  "recognition.off": "Desativado",
  "recognition.languages": "Idiomas",
  "recognition.program": "Programa",
  "recognition.intro": "O Tesseract lê páginas digitalizadas e imagens neste servidor.",
  "recognition.title": "Reconhecimento de texto",
  "embedding.try": "Testar",
  "embedding.trying": "Testando…",
  "embedding.tried": "Uma frase levou {time} e gerou um vetor de {dimensions} dimensões.",
  "embedding.anew":
    "Os embeddings de todos os documentos são refeitos em segundo plano, e isso conta no uso dos proprietários. Até lá, os atuais continuam em uso.",
  "embedding.turnsOff": "A busca semântica é desativada. Os embeddings são excluídos após uma hora.",
  "audit.area.embedding": "Modelo de embeddings",
  "audit.embedding.change": "Alterou o modelo de embeddings",
  "audit.embedding.try": "Testou um modelo de embeddings",
  "reader.title": "Leitor de documentos",
  "reader.intro":
    "Outro programa, Apache Tika ou Docling, pode ler arquivos que este servidor não lê, como arquivos antigos do Office.",
  "reader.off": "Nenhum leitor de documentos está definido.",
  "documents.models": "Modelos para documentos",
  "documents.modelsIntro":
    "Eles processam documentos em segundo plano e nas buscas. Seus tokens contam no uso.",
};
