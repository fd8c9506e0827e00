/** Portuguese texts for the configuration page. */
import type { Entry } from "../index.svelte.ts";
import type { configuration as en } from "../en/configuration.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Configuração",
  "configuration.intro":
    "Configurações com que este servidor foi iniciado. Para alterar uma, edite {file} ou defina sua variável de ambiente e reinicie o servidor.",
  "configuration.introNoFile":
    "Configurações com que este servidor foi iniciado. Para alterar uma, crie o arquivo {file} ou defina sua variável de ambiente e reinicie o servidor.",
  "configuration.search": "Buscar",
  "configuration.onlySet": "Só as alteradas",
  "configuration.none": "Nenhuma configuração encontrada",
  "configuration.server": "Servidor",
  "configuration.secret": "(segredo)",
  "configuration.default": "padrão: {value}",
  "configuration.from.default": "Padrão",
  "configuration.from.file": "Do arquivo",
  "configuration.from.environment": "Do ambiente",
  "configuration.from.flag": "De uma opção da linha de comando",
};
