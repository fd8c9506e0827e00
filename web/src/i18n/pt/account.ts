/** Portuguese texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Boas-vindas ao Glasshouse",
  "setup.intro":
    "Um servidor de agentes com paredes de vidro: você vê cada etapa no momento em que acontece. Primeiro, crie a conta de administrador.",
  "setup.submit": "Criar conta",
  "login.title": "Entrar",
  "login.submit": "Entrar",
  "login.forgotten": "Esqueceu a senha?",
  "login.forgottenHelp": "Peça um link de redefinição a um administrador deste servidor.",
  "login.resetHelp": "O link para escolher uma nova senha vai para o endereço de e-mail acima.",
  "login.sendReset": "Enviar link por e-mail",
  "login.resetSent":
    "Se {email} tiver uma conta com senha, um link está a caminho. Verifique também a pasta de spam.",
  "login.or": "ou",
  "login.with": "Continuar com {name}",
  "login.problem.unknown": "Este login começou em outro navegador ou demorou demais. Tente de novo.",
  "login.problem.denied": "Segundo {name}, você negou o acesso. Tente de novo.",
  "login.problem.refused":
    "{name} não conseguiu confirmar sua identidade. Tente de novo; se o problema continuar, fale com um administrador.",
  "login.problem.unreachable": "Não foi possível acessar {name}. Tente mais tarde.",
  "login.problem.notAllowed": "Nenhum dos seus grupos em {name} tem acesso aqui. Fale com um administrador.",
  "login.problem.groupsUnknown":
    "{name} não enviou seus grupos, e aqui só alguns grupos têm acesso. Fale com um administrador.",
  "login.groupsKept":
    "{name} não enviou seus grupos desta vez, então seus grupos e sua função aqui não mudaram.",
  "login.problem.noAccount": "Você ainda não tem uma conta aqui. Peça uma a um administrador.",
  "login.problem.addressTaken": "Já existe uma conta com seu e-mail. Entre com a senha dela.",
  "login.problem.noAddress":
    "{name} não compartilhou seu e-mail, que é obrigatório aqui. Fale com um administrador.",
  "login.problem.suspended": "Esta conta está suspensa. Fale com um administrador.",
  "login.problem.codeNeeded":
    "O proxy fez seu login, mas esta conta também exige um código. Entre com sua senha.",
  "proxy.name": "O proxy deste servidor",
  "proxy.signsOut": "Seu login é feito pelo proxy deste servidor. Saia por lá.",
  "proxy.sessions":
    "Seu login é feito pelo proxy deste servidor, então este navegador não precisa de sessão. Saia por lá.",
  "login.problem.notSetUp":
    "Este servidor ainda não foi configurado. O administrador precisa criar a primeira conta.",
  "close.open": "Excluir conta…",
  "close.title": "Excluir minha conta",
  "close.text":
    "Sua conta é excluída imediata e permanentemente, com todos os seus chats, arquivos, memórias, agendamentos e chaves. Os totais de uso ficam no servidor sem o seu nome. Confirme com sua senha; se você não tem uma, fale com um administrador.",
  "close.wrong": "Senha incorreta.",
  "settings.profile": "Perfil",
  "profile.role": "Função",
  "profile.save": "Salvar",
  "profile.saved": "Nome alterado.",
  "profile.others": "Só um administrador pode alterar seu e-mail e sua função.",
};
