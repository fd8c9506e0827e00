/** Spanish texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "Respuestas en paralelo",
  "beside.ask": "Comparar",
  "beside.with": "Comparar con…",
  "beside.advanced": "Avanzado…",
  "beside.about": "Haz la misma pregunta a otros modelos y compara las respuestas en paralelo.",
  "beside.who": "Modelos",
  "beside.samples": "Respuestas por modelo",
  "beside.tooMany": "Elige de 1 a {most} respuestas en total.",
  "beside.start": {
    one: "Obtener {count} respuesta",
    many: "Obtener {count} de respuestas",
    other: "Obtener {count} respuestas",
  },
  "beside.startNone": "Comparar",
  "beside.count": {
    one: "{count} respuesta en paralelo",
    many: "{count} de respuestas en paralelo",
    other: "{count} respuestas en paralelo",
  },
  "beside.answer": "Respuesta {number}: {name}",
  "beside.stop": "Detener la respuesta {number}",
  "beside.choose": "Usar esta respuesta",
  "beside.chosen": "En uso",
  "beside.merge": {
    one: "Combinar {count} respuesta",
    many: "Combinar {count} de respuestas",
    other: "Combinar {count} respuestas",
  },
  "beside.mergeHint": "Un modelo combina en una sola las respuestas terminadas. Las demás se omiten.",
  "beside.madeOf": {
    one: "Combinada a partir de {count} respuesta",
    many: "Combinada a partir de {count} de respuestas",
    other: "Combinada a partir de {count} respuestas",
  },
  "beside.costs": "Coste",
  "beside.merging": "Combinación, {name}",
  "beside.sum": "Total",
};
