/** Portuguese texts for shared chats and collections, and for administrator access. */
import type { Entry } from "../index.svelte.ts";
import type { sharing as en } from "../en/sharing.ts";

export const sharing: Record<keyof typeof en, Entry> = {
  "share.open": "Compartilhar chat",
  "share.intro":
    "As pessoas com quem você compartilha veem o chat inteiro: mensagens, etapas, ferramentas e arquivos. Quem pode responder também pode escrever nele.",
  "share.all": "Qualquer pessoa neste servidor com o link",
  "share.allHint": "Qualquer pessoa com uma conta neste servidor que abrir o link.",
  "share.copy": "Copiar link",
  "share.people": "Pessoas",
  "share.email": "Endereço de e-mail",
  "share.add": "Compartilhar",
  "share.added": "Compartilhado com {name}",
  "share.remove": "Deixar de compartilhar",
  "share.removeOf": "Deixar de compartilhar com {name}",
  "share.removeConfirm": "Deixar de compartilhar com {name}? Não será mais possível ler este chat.",
  "share.files": "Os arquivos estão em uma pasta do servidor que os leitores não podem ver.",
  "shared.title": "Compartilhados comigo",
  "shared.of": "Compartilhado por {name}",
  "share.mayReply": "Pode responder",
  "share.mayRead": "Pode ler",
  "share.rights": "Acesso de {name}",
  "share.rightsOfNew": "Acesso",
  "share.replyHint":
    "Quem pode responder usa seus modelos, ferramentas, arquivos e limites. Só você pode aprovar chamadas e parar respostas.",
  "shared.byWritable": "Compartilhado por {name} ({email}) · você pode responder",
  "shared.by": "Compartilhado por {name} ({email}) · somente leitura",
  "shared.waiting": "Aguardando {name}",
  "shared.notAnswerable": "Só {name} pode responder a isto.",
  "moderation.note": "Administradores podem ler os chats aqui. Todo acesso é registrado.",
  "moderation.chats": "Chats",
  "moderation.chatsOf": "Chats de {name}",
  "moderation.noted": "Seu acesso fica registrado no log de auditoria.",
  "moderation.none": "Nenhum chat",
  "collectionShare.open": "Compartilhar",
  "collectionShare.title": "Compartilhar “{name}”",
  "collectionShare.intro":
    "As pessoas podem pesquisar e ler a coleção, mas não alterá-la. As mudanças valem imediatamente.",
  "collectionShare.introAdmin":
    "Você está alterando isto como administrador. Fica registrado no log de auditoria.",
  "collectionShare.all": "Todos neste servidor",
  "collectionShare.allHint": "Qualquer pessoa com uma conta neste servidor.",
  "collectionShare.groups": "Grupos",
  "collectionShare.noGroups": "Nenhum grupo para escolher",
  "collectionShare.removeConfirm":
    "Deixar de compartilhar com {name}? Não será mais possível pesquisar nem ler estes documentos.",
  "collectionShare.closeConfirm":
    "Você só pode ler esta coleção porque ela foi compartilhada com você. Se isso acabar, só o proprietário poderá compartilhá-la de novo com você.",
  "collectionShare.is": "Compartilhada",
};
