/** Portuguese texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "Atualizando a memória “{name}”…",
  "steps.memoryFailed": "A memória “{name}” não foi alterada",
  "steps.memoryChanged": "Memorizou “{name}”",
  "steps.memoryDeleted": "Esqueceu “{name}”",
  "steps.byProvider": "executado pelo provedor",
  "steps.title": { one: "{count} etapa", many: "{count} de etapas", other: "{count} etapas" },
  "steps.failed": { one: "{count} com falha", many: "{count} com falha", other: "{count} com falha" },
  "steps.agentsRunning": {
    one: "{count} subagente em execução",
    many: "{count} de subagentes em execução",
    other: "{count} subagentes em execução",
  },
  "steps.agents": { one: "{count} subagente", many: "{count} de subagentes", other: "{count} subagentes" },
  "steps.search": "Buscar etapas",
  "steps.noMatch": "Nenhuma etapa encontrada",
  "steps.onlyPlan": "Só o plano foi atualizado",
  "steps.loading": "Carregando etapas…",
  "steps.showAll": "Mostrar tudo",
  "steps.showMore": "Carregar mais",
  "steps.showLess": "Mostrar menos",
  "steps.arguments": "Argumentos",
  "steps.wholeResult": "Resultado completo em {path}",
  "steps.program": "Programa",
  "steps.output": "Saída",
  "steps.result": "Resultado",
  "steps.error": "Erro",
  "steps.emptyResult": "Concluído (sem saída)",
  "steps.showHtml": "Mostrar {name}",
  "steps.truncated": "Resultado cortado no limite de tamanho.",
  "steps.task": "Tarefa",
  "steps.continues": "Continua",
};
