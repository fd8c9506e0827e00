/** Portuguese texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "Chaves de acesso",
  "passkeys.intro":
    "Entre com sua impressão digital, seu rosto ou o PIN do dispositivo em vez de senha e código. Uma chave de acesso não pode ser adivinhada nem roubada por phishing. Sua senha continua funcionando.",
  "passkeys.name": "Nome",
  "passkeys.nameHint": "Por exemplo: celular, chave de segurança",
  "passkeys.make": "Adicionar chave de acesso",
  "passkeys.makeText": "Confirme sua senha. Depois, o navegador pergunta onde salvar a chave de acesso.",
  "passkeys.made": "Chave de acesso adicionada. Agora você pode entrar com ela.",
  "passkeys.madeAt": "Criada em {date} para {host}",
  "passkeys.used": "último uso em {date}",
  "passkeys.unused": "nunca usada",
  "passkeys.copied": "Esta chave de acesso pode ter sido clonada e foi desativada. Remova-a.",
  "passkeys.remove": "Remover chave de acesso",
  "passkeys.removeConfirm":
    "Remover “{name}”? Você não poderá mais entrar com ela. Exclua-a também do dispositivo, senão ele continuará oferecendo-a.",
  "passkeys.known": "Este dispositivo já tem sua chave de acesso para este servidor.",
  "passkeys.notMade":
    "A chave de acesso não foi adicionada: a operação foi cancelada, o tempo se esgotou ou este dispositivo não é compatível.",
  "passkeys.notHere":
    "Chaves de acesso exigem um navegador compatível e HTTPS com um nome de host, ou localhost.",
  "passkeys.logIn": "Entrar com chave de acesso",
  "passkeys.notUsed":
    "A chave de acesso não foi usada: a operação foi cancelada, o tempo se esgotou ou ela não está neste dispositivo.",
  "passkeys.wrong":
    "Esta chave de acesso não funciona mais aqui. Entre com sua senha e verifique suas chaves de acesso.",
  "passkeys.has": "chaves de acesso",
  "passkeys.removeShort": "Remover chaves de acesso",
  "passkeys.removeOfConfirm":
    "Depois disso, {name} pode entrar com a senha e adicionar novas chaves de acesso. Todas as sessões de {name} são encerradas.",
};
