/** Spanish texts for the administrator's approval rules. */
import type { approvalRules as en } from "../en/approval-rules.ts";
import type { Entry } from "../index.svelte.ts";

export const approvalRules: Record<keyof typeof en, Entry> = {
  "approvalRules.title": "Reglas de aprobación",
  "approvalRules.intro":
    "Qué llamadas a herramientas se ejecutan, piden aprobación o se deniegan, para todos. Se aplica la primera regla que coincide con la llamada; si no coincide ninguna, el valor predeterminado de la herramienta.",
  "approvalRules.none": "Aún no hay reglas. Se aplica el valor predeterminado de cada herramienta.",
  "approvalRules.add": "Añadir regla",
  "approvalRules.addTitle": "Añadir una regla de aprobación",
  "approvalRules.editTitle": "Editar la regla {number}",
  "approvalRules.edit": "Editar la regla {number}",
  "approvalRules.up": "Subir la regla {number}",
  "approvalRules.down": "Bajar la regla {number}",
  "approvalRules.remove": "Quitar la regla {number}",
  "approvalRules.moved": "Regla movida a la posición {number} de {total}.",
  "approvalRules.removed": "Regla quitada",
  "approvalRules.changedElsewhere":
    "Otra persona ha cambiado las reglas mientras tanto. Revísalas e inténtalo de nuevo.",
  "approvalRules.tool": "Herramienta",
  "approvalRules.choose": "Elige una herramienta…",
  "approvalRules.everyTool": "cualquier herramienta",
  "approvalRules.general": "Varias herramientas",
  "approvalRules.anyTool": "Todas las herramientas",
  "approvalRules.allOf": "Todas las herramientas de {server}",
  "approvalRules.byPattern": "Según un patrón…",
  "approvalRules.pattern": "Patrón para los nombres de herramientas",
  "approvalRules.patternHint":
    "* equivale a cualquier texto: *delete* son todas las herramientas con «delete» en el nombre.",
  "approvalRules.conditions": "Solo si los argumentos coinciden",
  "approvalRules.conditionsHint":
    "Deben cumplirse todas las condiciones. Sin ninguna, la regla se aplica a todas las llamadas. Usa * como comodín.",
  "approvalRules.harmless":
    "En las reglas que permiten llamadas, * no equivale a saltos de línea, operadores del shell como ; | & o $ ni «..».",
  "approvalRules.argument": "Argumento",
  "approvalRules.value": "Patrón",
  "approvalRules.addCondition": "Añadir condición",
  "approvalRules.removeCondition": "Quitar la condición {number}",
  "approvalRules.noName": "Escribe el nombre del argumento.",
  "approvalRules.noPattern": "Escribe un patrón, como /site/*.",
  "approvalRules.twice": "Este argumento ya tiene una condición.",
  "approvalRules.tooLong": "Este patrón es demasiado largo.",
  "approvalRules.then": "Qué ocurre",
  "approvalRules.allow": "Permitir",
  "approvalRules.allowHint": "La llamada se ejecuta sin preguntar.",
  "approvalRules.ask": "Preguntar",
  "approvalRules.askHint":
    "Se pregunta antes a la persona, que puede permitir esas llamadas de forma permanente.",
  "approvalRules.ask_each_time": "Preguntar cada vez",
  "approvalRules.ask_each_timeHint": "Se pregunta a la persona antes de cada llamada.",
  "approvalRules.deny": "Denegar",
  "approvalRules.denyHint": "La llamada no se ejecuta y el modelo recibe un error.",
  "approvalRules.allowSentence": "Permitir {tool}",
  "approvalRules.askSentence": "Preguntar antes de {tool}",
  "approvalRules.ask_each_timeSentence": "Preguntar cada vez antes de {tool}",
  "approvalRules.denySentence": "Denegar {tool}",
  "approvalRules.when": "{sentence} cuando {conditions}",
  "approvalRules.is": "{name} coincide con {pattern}",
  "approvalRules.matches": {
    one: "Coincide con {count} herramienta conocida",
    many: "Coincide con {count} de herramientas conocidas",
    other: "Coincide con {count} herramientas conocidas",
  },
  "approvalRules.matchesNone":
    "No coincide con ninguna herramienta conocida. La regla se aplicará cuando haya una.",
  "approvalRules.never": "Nunca se aplica: la regla {number} ya coincide con todas sus llamadas.",
};
