/** Portuguese texts for data export, import and account deletion in the settings. */
import type { Entry } from "../index.svelte.ts";
import type { data as en } from "../en/data.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Exportar e importar",
  "data.export": "Exportar",
  "data.exportText":
    "Um arquivo com todos os seus dados: chats com todas as ramificações e logs de execução, arquivos, coleções de documentos, memórias, agendamentos e nomes de chaves. Senhas e chaves não são incluídas.",
  "data.exportDo": "Baixar meus dados",
  "data.import": "Importar",
  "data.importText":
    "Importa para esta conta uma exportação do Glasshouse ou chats do ChatGPT, Claude, Open WebUI ou LibreChat. Os dados existentes são mantidos e não são duplicados; os agendamentos são importados desativados.",
  "data.importFiles": "ChatGPT e Claude: o arquivo ZIP como você o recebeu. Outros: .json ou .jsonl.",
  "data.choose": "Escolher arquivo",
  "data.dropHere": "ou solte-o aqui",
  "data.sending": "Importando {name} ({size})…",
  "data.made": "Importado",
  "data.here": "Já existia aqui",
  "data.left": "Ignorado",
  "data.leftMore": { one: "e mais {count}", many: "e mais {count}", other: "e mais {count}" },
  "data.nothingNew": "Nada de novo para importar.",
  "data.count.chats": { one: "{count} chat", many: "{count} de chats", other: "{count} chats" },
  "data.count.messages": {
    one: "{count} mensagem",
    many: "{count} de mensagens",
    other: "{count} mensagens",
  },
  "data.count.runs": { one: "{count} execução", many: "{count} de execuções", other: "{count} execuções" },
  "data.count.files": { one: "{count} arquivo", many: "{count} de arquivos", other: "{count} arquivos" },
  "data.count.memories": { one: "{count} memória", many: "{count} de memórias", other: "{count} memórias" },
  "data.count.facts": {
    one: "{count} fato aprendido",
    many: "{count} de fatos aprendidos",
    other: "{count} fatos aprendidos",
  },
  "data.count.schedules": {
    one: "{count} agendamento",
    many: "{count} de agendamentos",
    other: "{count} agendamentos",
  },
  "data.count.collections": {
    one: "{count} coleção",
    many: "{count} de coleções",
    other: "{count} coleções",
  },
  "data.count.sources": { one: "{count} fonte", many: "{count} fontes", other: "{count} fontes" },
  "data.count.documents": {
    one: "{count} documento",
    many: "{count} de documentos",
    other: "{count} documentos",
  },
  "data.what.chat": "Chat",
  "data.what.message": "Mensagem",
  "data.what.run": "Execução",
  "data.what.file": "Arquivo",
  "data.what.memory": "Memória",
  "data.what.fact": "Fato aprendido",
  "data.what.schedule": "Agendamento",
  "data.what.collection": "Coleção",
  "data.what.source": "Fonte",
  "data.what.document": "Documento",
  "data.what.key": "Chave",
  "data.what.agent": "Agente",
  "data.what.line": "Linha",
  "data.end": "Excluir conta",
  "data.endText": "Exclui permanentemente sua conta e tudo o que há nela. Exporte seus dados antes.",
};
