/** Portuguese texts for the configuration page. */
import type { Entry } from "../index.svelte.ts";
import type { configuration as en } from "../en/configuration.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Configuração",
  "configuration.intro":
    "As alterações valem na hora, sem reiniciar. Valores do arquivo {file}, de variáveis de ambiente e da linha de comando têm prioridade e só podem ser alterados lá.",
  "configuration.search": "Buscar",
  "configuration.show": "Mostrar",
  "configuration.show.here": "Podem ser alteradas aqui",
  "configuration.show.changed": "Diferentes do padrão",
  "configuration.show.all": "Todas as configurações",
  "configuration.none": "Nenhuma configuração encontrada",
  "configuration.searchAll": "Buscar em todas as configurações",
  "configuration.server": "Servidor",
  "configuration.secret": "(segredo)",
  "configuration.default": "Padrão: {value}",
  "configuration.reset": "Restaurar padrão",
  "configuration.unsaved": "Não salvo. Valor atual: {value}",
  "configuration.zero": "0: sem limite.",
  "configuration.noModel": "Nenhum",
  "configuration.on": "Ativado",
  "configuration.off": "Desativado",
  "configuration.number": "Digite um número igual ou maior que 0.",
  "configuration.wholeNumber": "Digite um número inteiro igual ou maior que 0.",
  "configuration.changeUnder": "Alterar em “{place}”",
  "configuration.place.start": "Lida quando o servidor inicia",
  "configuration.place.operator": "Só quem opera o servidor pode alterar",
  "configuration.from.default": "Padrão",
  "configuration.from.web_app": "Alterado no aplicativo web",
  "configuration.from.file": "Definido em {file}",
  "configuration.from.environment": "Definido por {variable}",
  "configuration.from.flag": "Definido por uma opção da linha de comando",
  "configuration.range": "Digite um número de {least} a {most}.",
};
