/** Portuguese texts for research. */
import type { Entry } from "../index.svelte.ts";
import type { research as en } from "../en/research.ts";

export const research: Record<keyof typeof en, Entry> = {
  "research.mode.chat": "Pesquisa: desativada",
  "research.mode.research": "Pesquisa",
  "research.mode.deep": "Pesquisa aprofundada",
  "research.modeHint":
    "Busca, lê e escreve um relatório com fontes. Pressione de novo para pesquisa aprofundada e mais uma vez para desativar.",
  "research.web": "Busca na web",
  "research.webShort": "Web",
  "research.webHint": "Busca na web antes de responder e cita o que encontra.",
  "research.turn": "Rodada {turn}",
  "research.plan": "Revise o plano",
  "research.planField": "Plano, um item por linha",
  "research.begin": "Iniciar pesquisa",
  "research.skip": "Pular revisão",
  "research.begun": "Revisão pulada.",
  "research.reportNow": "Escrever relatório agora",
  "research.reportNowHint": "Para de buscar e escreve o relatório com o que já tem.",
  "research.sources": "Fontes",
  "research.cited": "Citadas ({count})",
  "research.all": "Todas ({count})",
  "research.share": "{verified} de {count} trechos citados conferem palavra por palavra com a fonte.",
  "research.verified": "Verificado: o trecho citado está na fonte",
  "research.unverified": "Não verificado: o trecho citado não foi encontrado na fonte",
  "research.unconfirmed.number": "Trecho encontrado, afirmação não confirmada: falta nele um número da frase",
  "research.unconfirmed.negation":
    "Trecho encontrado, afirmação não confirmada: só um dos dois está na forma negativa",
  "research.unconfirmed.name": "Trecho encontrado, afirmação não confirmada: falta nele um nome da frase",
  "research.unconfirmed.quotation":
    "Trecho encontrado, afirmação não confirmada: não contém as palavras entre aspas",
  "research.openSource": "Abrir a fonte",
  "research.openCopy": "Abrir no trecho citado",
  "research.newAddress":
    "Este URL não veio de você nem de uma busca. URLs podem vazar o que o agente sabe: confira antes de permitir.",
  "research.none": "Nenhuma fonte citada",
  "research.exportMarkdown": "Markdown",
  "research.exportPage": "HTML",
  "research.exportPdfHint": "Abre a janela de impressão do navegador: escolha “Salvar como PDF”.",
};
