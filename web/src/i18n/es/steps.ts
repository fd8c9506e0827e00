/** Spanish texts for the steps of a run. */
import type { steps as en } from "../en/steps.ts";
import type { Entry } from "../index.svelte.ts";

export const steps: Record<keyof typeof en, Entry> = {
  "steps.memoryUpdating": "Actualizando el recuerdo «{name}»…",
  "steps.memoryFailed": "El recuerdo «{name}» no se modificó",
  "steps.memoryChanged": "Guardó el recuerdo «{name}»",
  "steps.memoryDeleted": "Eliminó el recuerdo «{name}»",
  "steps.byProvider": "ejecutado por el proveedor",
  "steps.title": { one: "{count} paso", many: "{count} de pasos", other: "{count} pasos" },
  "steps.failed": { one: "{count} con error", many: "{count} con error", other: "{count} con error" },
  "steps.agentsRunning": {
    one: "{count} subagente en ejecución",
    many: "{count} de subagentes en ejecución",
    other: "{count} subagentes en ejecución",
  },
  "steps.agents": { one: "{count} subagente", many: "{count} de subagentes", other: "{count} subagentes" },
  "steps.search": "Buscar pasos",
  "steps.noMatch": "No hay pasos que coincidan",
  "steps.onlyPlan": "Solo se actualizó el plan",
  "steps.loading": "Cargando pasos…",
  "steps.showAll": "Mostrar todo",
  "steps.showMore": "Cargar más",
  "steps.showLess": "Mostrar menos",
  "steps.arguments": "Argumentos",
  "steps.wholeResult": "Resultado completo en {path}",
  "steps.program": "Programa",
  "steps.output": "Salida",
  "steps.result": "Resultado",
  "steps.error": "Error",
  "steps.emptyResult": "Listo (sin salida)",
  "steps.showHtml": "Mostrar {name}",
  "steps.truncated": "Resultado cortado por el límite de tamaño.",
  "steps.task": "Tarea",
  "steps.continues": "Continúa",
};
