/** Portuguese texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Sessões",
  "sessions.intro": {
    one: "Onde sua conta está conectada. Uma sessão termina {count} hora após o início.",
    many: "Onde sua conta está conectada. Uma sessão termina {count} de horas após o início.",
    other: "Onde sua conta está conectada. Uma sessão termina {count} horas após o início.",
  },
  "sessions.on": "{browser} no {system}",
  "sessions.unknown": "Navegador desconhecido",
  "sessions.this": "este navegador",
  "sessions.began": "iniciada em {date}",
  "sessions.from": "de {address}",
  "sessions.used": "último uso em {date}",
  "sessions.end": "Sair",
  "sessions.endOf": "Sair: {device}",
  "sessions.endConfirm": "Encerrar a sessão de {device}? Tudo o que está aberto lá fecha imediatamente.",
  "sessions.endOthers": "Sair dos outros dispositivos",
  "sessions.endOthersConfirm":
    "Todas as suas outras sessões são encerradas imediatamente. As chaves de API continuam funcionando.",
  "sessions.endAll": "Sair de todos os dispositivos",
  "sessions.endAllConfirm":
    "Todas as suas sessões são encerradas imediatamente, inclusive esta. As chaves de API continuam funcionando.",
  "sessions.ended": "Outras sessões encerradas.",

  "reset.title": "Escolha uma nova senha",
  "reset.over":
    "Este link expirou ou já foi usado. Para receber um novo, escolha “{forgotten}” na página de login.",
  "reset.done": "Senha alterada. Você já pode entrar.",
  "reset.make": "Redefinir senha",
  "reset.made":
    "Envie este link a {name} para que escolha uma nova senha. Funciona uma vez, até {date}, e só é mostrado agora.",

  "signUp.title": "Criar uma conta",
  "signUp.submit": "Criar conta",
  "signUp.closed": "Você precisa de um convite para criar uma conta aqui. Fale com um administrador.",
  "signUp.over":
    "Este convite foi usado, expirou, foi revogado ou é para outro endereço de e-mail. Peça um novo.",
  "signUp.taken": "Não foi possível entrar com esta senha. Se você já tem uma conta, use a senha dela.",
  "signUp.toLogin": "Já tenho conta",
  "signUp.link": "Criar uma conta",
  "signUp.who": "Cadastro",
  "signUp.closedMode": "Fechado",
  "signUp.closedText": "Só administradores adicionam contas; os convites existentes ficam suspensos.",
  "signUp.invitationMode": "Por convite",
  "signUp.invitationText": "Com um link que você envia.",
  "signUp.openMode": "Aberto",
  "signUp.openText":
    "Qualquer pessoa com acesso a este servidor. Cada conta custa o que custam suas execuções: defina limites.",

  "invitations.title": "Convites",
  "invitations.invite": "Convidar pessoas",
  "invitations.way": "Para quem são os links",
  "invitations.byEmail": "Por e-mail",
  "invitations.shared": "Um link compartilhado",
  "invitations.most": "Máximo de contas",
  "invitations.days": "Validade (dias)",
  "invitations.turnsOn": "O cadastro está fechado. Criar um link ativa o cadastro por convite.",
  "invitations.reopens": {
    one: "{count} convite anterior volta a ser válido.",
    many: "{count} de convites anteriores voltam a ser válidos.",
    other: "{count} convites anteriores voltam a ser válidos.",
  },
  "invitations.invalid": {
    one: "Não é um endereço de e-mail: {names}",
    many: "Não são endereços de e-mail: {names}",
    other: "Não são endereços de e-mail: {names}",
  },
  "invitations.accounts": {
    one: "Já tem uma conta: {names}",
    many: "Já têm uma conta: {names}",
    other: "Já têm uma conta: {names}",
  },
  "invitations.repeated": {
    one: "Digitado mais de uma vez: {names}",
    many: "Digitados mais de uma vez: {names}",
    other: "Digitados mais de uma vez: {names}",
  },
  "invitations.invited": {
    one: "Já tem convite: {names}. O novo link substitui o antigo.",
    many: "Já têm convite: {names}. Os novos links substituem os antigos.",
    other: "Já têm convite: {names}. Os novos links substituem os antigos.",
  },
  "invitations.createLinks": {
    one: "Criar link",
    many: "Criar {count} de links",
    other: "Criar {count} links",
  },
  "invitations.ready":
    "Válido até {date}, para uma conta. Nenhum e-mail é enviado: compartilhe o link diretamente.",
  "invitations.readyEach":
    "Cada link é válido até {date}, para uma conta. Nenhum e-mail é enviado: compartilhe os links diretamente.",
  "invitations.readyAnybody": {
    one: "Válido até {date}, para {count} conta. Nenhum e-mail é enviado: compartilhe o link diretamente.",
    many: "Válido até {date}, para {count} de contas. Nenhum e-mail é enviado: compartilhe o link diretamente.",
    other: "Válido até {date}, para {count} contas. Nenhum e-mail é enviado: compartilhe o link diretamente.",
  },
  "invitations.sendMail": "Enviar os links por e-mail",
  "invitations.noMail": "Nenhum e-mail é enviado: você compartilha os links diretamente.",
  "invitations.setUpMail": "Configurar o e-mail",
  "invitations.send": {
    one: "Enviar convite",
    many: "Enviar {count} de convites",
    other: "Enviar {count} convites",
  },
  "invitations.sendingOf": "Enviando {at} de {count}…",
  "invitations.sent": "E-mail enviado",
  "invitations.allSent": {
    one: "Convite enviado. O link é válido até {date}, para uma conta.",
    many: "{count} de convites enviados. Cada link é válido até {date}, para uma conta.",
    other: "{count} convites enviados. Cada link é válido até {date}, para uma conta.",
  },
  "invitations.someSent":
    "Convites enviados: {sent} de {count}. Compartilhe os outros links diretamente. Cada link é válido até {date}, para uma conta.",
  "invitations.turnedOn": "O cadastro por convite está ativado.",
  "invitations.copy": "Copiar link",
  "invitations.copyAll": "Copiar todos",
  "invitations.copyOf": "Copiar link: {who}",
  "invitations.mail": "Escrever um e-mail",
  "invitations.mailTo": "Escrever um e-mail: {who}",
  "invitations.mailSubject": "Convite para o Glasshouse",
  "invitations.mailText": "Crie sua conta aqui: {link}\n\nO link é válido até {date}.",
  "invitations.failed": "Não foi possível convidar {email}: {problem}",
  "invitations.done": "Concluir",
  "invitations.pending": "Convites pendentes",
  "invitations.paused": "O cadastro está fechado, por isso estes links não funcionam agora.",
  "invitations.past": {
    one: "{count} usado ou expirado",
    many: "{count} usados ou expirados",
    other: "{count} usados ou expirados",
  },
  "invitations.renew": "Novo link",
  "invitations.renewOf": "Novo link: {who}",
  "invitations.renewConfirm": "Criar um novo link para “{who}”? O atual para de funcionar.",
  "invitations.renewed": "Novo link para {who}, válido até {date}:",
  "invitations.anybody": "Qualquer pessoa com o link",
  "invitations.anybodyHint":
    "Qualquer pessoa com o link pode criar uma conta, até que ele se esgote ou expire.",
  "invitations.emails": "Endereços de e-mail",
  "invitations.emailsHint":
    "Separe-os com vírgulas, espaços ou quebras de linha. Cada um recebe um link que só esse endereço pode usar.",
  "invitations.used": "usado",
  "invitations.uses": "{uses} de {most} usados",
  "invitations.until": "até {date}",
  "invitations.over": "expirou em {date}",
  "invitations.takeBack": "Revogar",
  "invitations.takeBackConfirm":
    "Revogar o convite “{who}”? O link para de funcionar imediatamente. As contas criadas com ele são mantidas.",

  "signIns.title": "Seus logins",
  "signIns.intro":
    "Depois que você faz login, os agentes que trabalham para você usam estes servidores em seu nome. Outras pessoas não veem o que você vê lá.",
  "signIns.none": "Nenhuma ferramenta aqui precisa do seu próprio login.",
  "signIns.kind.oauth": "precisa do seu login",
  "signIns.kind.user_token": "precisa do seu token",
  "signIns.state.signed_out": "sem login",
  "signIns.state.lapsed": "login expirado",
  "signIns.signIn": "Fazer login em {name}",
  "signIns.signOut": "Sair de {name}",
  "signIns.signOutConfirm":
    "Seu login é removido daqui. Os agentes não podem usar {name} por você até que você faça login de novo.",
  "signIns.token": "Seu token para {name}",
  "signIns.save": "Salvar",
  "signIns.ended.done": "Login concluído.",
  "signIns.ended.unknown":
    "Este login já foi usado, demorou demais ou começou em outro lugar. Tente de novo.",
  "signIns.ended.denied": "O servidor negou o acesso.",
  "signIns.ended.wrong_issuer":
    "Você voltou de um endereço inesperado, por isso o login foi recusado. Avise um administrador.",
  "signIns.ended.refused": "O servidor recusou o login. Tente de novo.",
  "signIns.ended.unreachable": "Não foi possível acessar o servidor. Tente mais tarde.",
  "signIns.ended.signed_out": "Entre no Glasshouse neste navegador e tente de novo.",
};
