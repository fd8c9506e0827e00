/** Portuguese texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "Respostas lado a lado",
  "beside.ask": "Comparar",
  "beside.with": "Comparar com…",
  "beside.advanced": "Avançado…",
  "beside.about": "Faça a mesma pergunta a outros modelos e compare lado a lado.",
  "beside.who": "Modelos",
  "beside.samples": "Respostas por modelo",
  "beside.tooMany": "Escolha de 1 a {most} respostas no total.",
  "beside.start": {
    one: "Obter {count} resposta",
    many: "Obter {count} de respostas",
    other: "Obter {count} respostas",
  },
  "beside.startNone": "Comparar",
  "beside.count": {
    one: "{count} resposta lado a lado",
    many: "{count} de respostas lado a lado",
    other: "{count} respostas lado a lado",
  },
  "beside.answer": "Resposta {number}: {name}",
  "beside.stop": "Parar resposta {number}",
  "beside.choose": "Usar esta resposta",
  "beside.chosen": "Em uso",
  "beside.merge": {
    one: "Mesclar {count} resposta",
    many: "Mesclar {count} de respostas",
    other: "Mesclar {count} respostas",
  },
  "beside.mergeHint": "Um modelo combina as respostas concluídas em uma só. As demais ficam de fora.",
  "beside.madeOf": {
    one: "Mesclada de {count} resposta",
    many: "Mesclada de {count} de respostas",
    other: "Mesclada de {count} respostas",
  },
  "beside.costs": "Custo",
  "beside.merging": "Mesclagem, {name}",
  "beside.sum": "Total",
};
