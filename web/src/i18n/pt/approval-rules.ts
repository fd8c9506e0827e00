/** Portuguese texts for the administrator's approval rules. */
import type { approvalRules as en } from "../en/approval-rules.ts";
import type { Entry } from "../index.svelte.ts";

export const approvalRules: Record<keyof typeof en, Entry> = {
  "approvalRules.title": "Regras de aprovação",
  "approvalRules.intro":
    "Quais chamadas de ferramenta são executadas, pedem aprovação ou são negadas, para todos. Vale a primeira regra que corresponde à chamada; se nenhuma corresponder, vale o padrão da ferramenta.",
  "approvalRules.none": "Nenhuma regra ainda. Vale o padrão de cada ferramenta.",
  "approvalRules.add": "Adicionar regra",
  "approvalRules.addTitle": "Adicionar uma regra de aprovação",
  "approvalRules.editTitle": "Editar a regra {number}",
  "approvalRules.edit": "Editar a regra {number}",
  "approvalRules.up": "Mover a regra {number} para cima",
  "approvalRules.down": "Mover a regra {number} para baixo",
  "approvalRules.remove": "Remover a regra {number}",
  "approvalRules.moved": "Regra movida para a posição {number} de {total}.",
  "approvalRules.removed": "Regra removida",
  "approvalRules.changedElsewhere":
    "Outra pessoa alterou as regras nesse meio-tempo. Confira-as e tente de novo.",
  "approvalRules.tool": "Ferramenta",
  "approvalRules.choose": "Escolha uma ferramenta…",
  "approvalRules.everyTool": "qualquer ferramenta",
  "approvalRules.general": "Várias ferramentas",
  "approvalRules.anyTool": "Todas as ferramentas",
  "approvalRules.allOf": "Todas as ferramentas de {server}",
  "approvalRules.byPattern": "Por um padrão…",
  "approvalRules.pattern": "Padrão para nomes de ferramentas",
  "approvalRules.patternHint":
    "* equivale a qualquer texto: *delete* é toda ferramenta com “delete” no nome.",
  "approvalRules.conditions": "Só se os argumentos corresponderem",
  "approvalRules.conditionsHint":
    "Todas as condições precisam ser atendidas. Sem nenhuma, a regra vale para todas as chamadas. Use * como curinga.",
  "approvalRules.harmless":
    "Em regras que permitem, * não equivale a quebras de linha, operadores de shell como ; | & ou $ nem “..”.",
  "approvalRules.argument": "Argumento",
  "approvalRules.value": "Padrão",
  "approvalRules.addCondition": "Adicionar condição",
  "approvalRules.removeCondition": "Remover a condição {number}",
  "approvalRules.noName": "Digite o nome do argumento.",
  "approvalRules.noPattern": "Digite um padrão, como /site/*.",
  "approvalRules.twice": "Este argumento já tem uma condição.",
  "approvalRules.tooLong": "Este padrão é longo demais.",
  "approvalRules.then": "O que acontece",
  "approvalRules.allow": "Permitir",
  "approvalRules.allowHint": "A chamada é executada sem perguntar.",
  "approvalRules.ask": "Perguntar",
  "approvalRules.askHint": "A pessoa precisa aprovar antes e pode permitir essas chamadas permanentemente.",
  "approvalRules.ask_each_time": "Perguntar sempre",
  "approvalRules.ask_each_timeHint": "A pessoa precisa aprovar cada chamada.",
  "approvalRules.deny": "Negar",
  "approvalRules.denyHint": "A chamada não é executada e o modelo recebe um erro.",
  "approvalRules.allowSentence": "Permitir {tool}",
  "approvalRules.askSentence": "Perguntar antes de {tool}",
  "approvalRules.ask_each_timeSentence": "Perguntar sempre antes de {tool}",
  "approvalRules.denySentence": "Negar {tool}",
  "approvalRules.when": "{sentence} quando {conditions}",
  "approvalRules.is": "{name} corresponde a {pattern}",
  "approvalRules.matches": {
    one: "Corresponde a {count} ferramenta conhecida",
    many: "Corresponde a {count} de ferramentas conhecidas",
    other: "Corresponde a {count} ferramentas conhecidas",
  },
  "approvalRules.matchesNone":
    "Não corresponde a nenhuma ferramenta conhecida. A regra passa a valer quando houver uma.",
  "approvalRules.never": "Nunca se aplica: a regra {number} já corresponde a todas essas chamadas.",
};
