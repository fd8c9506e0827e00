/** Portuguese texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "Provedor de login",
  "signInProvider.intro":
    "Permite entrar com uma conta existente, por OpenID Connect. As senhas continuam funcionando.",
  "signInProvider.setUp": "Configurar",
  "signInProvider.setUpTitle": "Configurar um provedor de login",
  "signInProvider.editTitle": "Editar o provedor de login",
  "signInProvider.clientIdOf": "ID do cliente: {id}",
  "signInProvider.preset": "Provedor",
  "signInProvider.other": "Outro",
  "signInProvider.hint.entra":
    "O Entra ID omite os grupos do token a partir de 201. Se alguém tiver tantos, defina a URL de grupos em “Avançado”.",
  "signInProvider.hint.google": "O Google não envia grupos.",
  "signInProvider.hint.keycloak": "O Keycloak envia todos os grupos da pessoa.",
  "signInProvider.hint.okta":
    "No Okta, o login falha se mais de 100 grupos corresponderem à claim de grupos: filtre-os por lá.",
  "signInProvider.hint.authentik":
    "O authentik envia todos os grupos da pessoa. A barra no final faz parte do emissor.",
  "signInProvider.redirect": "Endereço de redirecionamento",
  "signInProvider.redirectHint": "Registre-o no provedor, em um cliente web confidencial.",
  "signInProvider.issuer": "Emissor",
  "signInProvider.issuerHint": "Exatamente como o provedor escreve.",
  "signInProvider.placeholder": "Substitua {text} pelo seu valor.",
  "signInProvider.clientId": "ID do cliente",
  "signInProvider.clientSecret": "Segredo do cliente",
  "signInProvider.secretHint": "Deixe em branco para um cliente público.",
  "signInProvider.secretMoved": "O segredo armazenado não é enviado a outro host. Digite o deste provedor.",
  "signInProvider.removeSecret": "Remover o segredo do cliente armazenado",
  "signInProvider.name": "Nome no botão",
  "signInProvider.advanced": "Avançado",
  "signInProvider.scopes": "Escopos",
  "signInProvider.scopesHint":
    "Separados por espaços. Alguns provedores só enviam grupos com o escopo groups.",
  "signInProvider.groupsClaim": "Claim de grupos",
  "signInProvider.groupsClaimHint": "Um ponto leva a uma claim aninhada: realm_access.roles.",
  "signInProvider.groupsUrl": "URL de grupos",
  "signInProvider.groupsUrlHint":
    "De onde vêm os grupos que o token omite. O Entra ID também precisa dos escopos User.Read e GroupMember.Read.All.",
  "signInProvider.adminGroups": "Grupos de administradores",
  "signInProvider.adminGroupsHint":
    "Um por linha. A cada login, os membros se tornam administradores e os demais, usuários comuns. Deixe em branco para escolher os administradores aqui.",
  "signInProvider.allowedGroups": "Grupos permitidos",
  "signInProvider.allowedGroupsHint":
    "Um por linha. Só os membros deles e dos grupos de administradores podem entrar. Deixe em branco para aceitar todos do provedor.",
  "signInProvider.createAccounts": "Criar contas no primeiro login",
  "signInProvider.createAccountsHint": "Caso contrário, os administradores adicionam as pessoas antes.",
  "signInProvider.linkByEmail": "Vincular contas existentes por e-mail",
  "signInProvider.linkByEmailHint":
    "Só para provedores que verificam endereços: quem conseguir um endereço lá fica com a conta.",
  "signInProvider.newIssuer":
    "Cada pessoa é reconhecida pelo ID dela neste emissor. Em outro, conta como nova, a menos que as contas sejam vinculadas por e-mail.",
  "signInProvider.works": "Funciona. O login é feito em {host}.",
  "signInProvider.turnOff": "Desativar",
  "signInProvider.turnOffTitle": "Desativar o provedor de login",
  "signInProvider.turnOffStay": "Quem já entrou continua conectado até o fim da sessão.",
  "signInProvider.turnOffWho":
    "Depois disso, quem não tiver senha nem chave de acesso não poderá entrar. Para dar uma senha a alguém, escolha “Redefinir senha” nas ações da pessoa.",
  "signInProvider.turnOffYou": "Você não tem nenhuma das duas. Crie antes um link para você.",
  "signInProvider.turnedOff": "Provedor de login desativado",
};
