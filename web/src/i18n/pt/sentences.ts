/** Portuguese server messages, by message code; the server sends the English text with each code. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusals } from "./refusals.ts";

export const sentences: Record<keyof Messages, Entry> = {
  ...refusals,

  thinking: "Pensando…",
  summing_up: "Resumindo etapas antigas…",
  asking_again: "Consultando o modelo de novo em {seconds} s (tentativa {attempt} de {attempts})…",
  running_tools: {
    one: "Executando {count} ferramenta…",
    many: "Executando {count} de ferramentas…",
    other: "Executando {count} ferramentas…",
  },
  planning: "Planejando…",
  searching_in_turn: "Rodada {turn}: buscando…",
  reading_in_turn: {
    one: "Rodada {turn}: lendo {count} fonte…",
    many: "Rodada {turn}: lendo {count} de fontes…",
    other: "Rodada {turn}: lendo {count} fontes…",
  },
  writing_report: "Escrevendo o relatório…",
  looking_for: "Decidindo o que buscar…",
  searching_queries: {
    one: "Fazendo {count} busca…",
    many: "Fazendo {count} de buscas…",
    other: "Fazendo {count} buscas…",
  },
  reading_pages: {
    one: "Lendo {count} página…",
    many: "Lendo {count} de páginas…",
    other: "Lendo {count} páginas…",
  },
  layer: "Respondendo de novo com base em todas as respostas, {layer} de {layers}…",

  the_run: "A execução",
  the_agent: "O agente",
  limit_steps: {
    one: "O agente executou {count} etapa, que é o limite dele. Ele termina com o que tem.",
    many: "O agente executou {count} de etapas, que é o limite dele. Ele termina com o que tem.",
    other: "O agente executou {count} etapas, que é o limite dele. Ele termina com o que tem.",
  },
  limit_steps_near: "O agente executou {count} de {limit} etapas. Ele termina com o que tem.",
  limit_all_steps: {
    one: "{who} executou {count} etapa somando todos os agentes, e o limite é {limit}. Termina com o que tem.",
    many: "{who} executou {count} de etapas somando todos os agentes, e o limite é {limit}. Termina com o que tem.",
    other:
      "{who} executou {count} etapas somando todos os agentes, e o limite é {limit}. Termina com o que tem.",
  },
  limit_tokens: {
    one: "{who} usou {count} token, e o limite é {limit}. Termina com o que tem.",
    many: "{who} usou {count} de tokens, e o limite é {limit}. Termina com o que tem.",
    other: "{who} usou {count} tokens, e o limite é {limit}. Termina com o que tem.",
  },
  limit_cost: "{who} custou {cost}, e o limite é {limit}. Termina com o que tem.",
  limit_time: "{who} trabalhou por {seconds} segundos, que é o limite. Termina com o que tem.",
  limit_time_near: "{who} trabalhou por {seconds} de {limit} segundos. Termina com o que tem.",
  limit_answer: {
    one: "A resposta atingiu o limite solicitado de {count} token e foi cortada.",
    many: "A resposta atingiu o limite solicitado de {count} de tokens e foi cortada.",
    other: "A resposta atingiu o limite solicitado de {count} tokens e foi cortada.",
  },
  hook_stopped: "O hook “{hook}” parou a execução: {reason}",
  hook_withheld: "O hook “{hook}” reteve a resposta: {reason}",
  limit_account: "{who} atingiu o limite de {most} por {span}. O limite é renovado em {wait}.",
  this_account: "Esta conta",
  group_of_account: "Um grupo desta conta",
  this_key: "Esta chave",
  this_person: "Esta pessoa",
  requests: { one: "{count} solicitação", many: "{count} de solicitações", other: "{count} solicitações" },
  tokens: { one: "{count} token", many: "{count} de tokens", other: "{count} tokens" },
  minute: "minuto",
  day: "dia",
  month: "mês",
  seconds: { one: "{count} segundo", many: "{count} de segundos", other: "{count} segundos" },
  minutes: { one: "{count} minuto", many: "{count} de minutos", other: "{count} minutos" },
  hours: { one: "{count} hora", many: "{count} de horas", other: "{count} horas" },
  days: { one: "{count} dia", many: "{count} de dias", other: "{count} dias" },
  model_not_yours: "Você não pode mais usar o modelo {name}: um administrador alterou as permissões.",
  agent_not_yours: "Você não pode mais usar o agente {name}: um administrador alterou as permissões.",
  workspace_not_yours:
    "Você não pode mais usar a pasta de trabalho {name}: um administrador alterou as permissões.",

  media_left_out:
    "Este modelo não aceita as imagens, os áudios ou os vídeos desta conversa, por isso foi consultado sem eles.",
  parameter_left_out: "O modelo foi consultado sem “{name}”, que ele não aceita aqui.",
  tools_simplified:
    "O servidor deste modelo não aceita todos os schemas destas ferramentas, por isso o modelo recebe versões mais simples: {tools}. Os argumentos são verificados como antes.",
  tools_left_out: "O servidor deste modelo recusa estas ferramentas, por isso elas ficam de fora: {tools}.",
  tools_by_search:
    "Há mais ferramentas do que o servidor deste modelo aceita: {listed} de {all} são listadas; as outras são encontradas por busca.",
  stop_sequences_left_out:
    "O modelo foi consultado sem algumas das sequências de parada, que ele não aceita.",
  arguments_repaired: "O modelo escreveu argumentos inválidos para {tool}, que foram corrigidos.",
  tool_name_repaired: "O modelo chamou “{written}”; a ferramenta pretendida era {tool}.",
  empty_answer: "O modelo deu uma resposta vazia.",
  made_picture_too_large:
    "Uma imagem do modelo é grande demais para ser mantida: {size} bytes, máximo de {limit}.",
  made_picture_unreadable: "Uma imagem do modelo não pode ser lida e não é mostrada.",
  answer_cut: "O modelo atingiu o limite de tokens de saída; a resposta pode estar cortada.",
  answer_filtered: "O filtro de conteúdo do servidor do modelo cortou a resposta.",
  answer_without_end: "O servidor do modelo encerrou a resposta sem dizer que tinha terminado.",
  answer_not_in_form: "A resposta não está no formato solicitado, por isso é escrita de novo: {fault}.",
  answer_never_in_form: "O modelo não respondeu no formato solicitado: {fault}.",
  other_model: "Não foi possível usar {before}, por isso {after} é usado no lugar dele. {why}",
  title_missing: "não há título",
  title_of_lines: "o título tem várias linhas",
  title_without_words: "o título não tem palavras, ou tem palavras demais",
  title_in_other_language: "o título não está no idioma do chat",
  tags_missing: "não há tags",
  follow_ups_missing: "não há follow_ups",
  json_missing: "não há um objeto JSON com {field}",
  fault_and_more: "{fault}; {more}",
  no_summary: "Não foi possível resumir as etapas antigas, por isso elas ficam de fora: {why}",
  parts_too_long: "Mesmo partes delas são longas demais para o servidor do modelo.",

  no_answer_of: "{name} não respondeu. {why}",
  nobody_answered:
    "Nenhum modelo respondeu nesta camada, por isso são usadas as respostas da camada anterior.",

  no_report: "O modelo não escreveu nenhum relatório. Estas são as anotações.",
  notes_so_far: "Terminou antes do relatório. Estas são as anotações até agora.",
  cites_nothing: "O relatório não cita fontes, por isso não se sabe de onde ele vem.",
  quotes_found:
    "{verified} de {count} anotações citadas têm um trecho encontrado palavra por palavra na fonte.",
  figures_unsupported:
    "O relatório contém números ou citações sem referência que não estão em nenhum trecho das fontes: {list}.",
  nothing_to_research_in:
    "Não há onde pesquisar: nenhuma coleção de documentos que você possa pesquisar e nenhuma busca na web. Crie uma coleção primeiro ou fale com um administrador.",
  no_web_here: "A busca na web não está disponível aqui, por isso a resposta é dada sem ela.",

  interrupted:
    "O servidor foi reiniciado durante esta execução. O que ela escreveu foi mantido; pergunte de novo para continuar.",
  given_up:
    "O servidor parou repetidamente durante esta execução, por isso ela foi encerrada. O que ela escreveu foi mantido; pergunte de novo para continuar.",
  model_gone: "O servidor foi reiniciado durante esta execução, e o modelo {name} não está mais disponível.",
  fault_of_server: "A execução terminou por um erro no servidor. O que ela escreveu foi mantido.",
  not_stored: "Não foi possível armazenar o log, por isso a execução foi interrompida.",

  mcp_server_away:
    "O servidor MCP “{name}” não está acessível agora, por isso esta execução continua sem as ferramentas dele.",
  mcp_sign_in_ended:
    "Seu login no servidor MCP “{name}” terminou, por isso esta execução continua sem as ferramentas dele. Faça login de novo em Configurações → Permissões e logins de ferramentas.",
  mcp_server_full: "O servidor MCP “{name}” tem conexões demais no momento.",
  mcp_server_fails: "Não foi possível conectar ao servidor MCP “{name}”.",

  saying: "{words} Mensagem recebida: {quote}",
  other_server: "{why} {name} é usado no lugar dele.",
  other_key: "{why} Outra chave de {name} é usada.",
  model_servers_unreachable: "Não foi possível acessar os servidores de modelos: {why}.",
  model_broke_off:
    "O servidor do modelo fechou a conexão no meio da resposta. Tente de novo; se continuar acontecendo, veja o log do próprio servidor.",
  model_silent:
    "O servidor do modelo não enviou nada por {waited}. Talvez ainda esteja carregando o modelo ou esteja ocupado demais; tente de novo.",
  model_went_silent:
    "O servidor do modelo parou no meio da resposta: nada chegou por {waited}. Tente de novo.",
  short_milliseconds: "{count} ms",
  short_seconds: "{count} s",
  certificate_not_trusted: "O certificado de {server} não é confiável: {why}",
  server_name_unknown: "Não foi possível resolver o nome do host de {server}. Verifique o endereço.",
  nothing_answers:
    "Não foi possível conectar a {server}. O servidor do modelo está em execução e o endereço está certo?",
  closed_before_answer:
    "O servidor do modelo em {server} fechou a conexão antes de responder. Tente de novo.",
  no_such_model: "O servidor do modelo não tem o modelo “{model}”.",
  no_api:
    "Não há uma API compatível com a OpenAI em {server}. Verifique o endereço; muitas vezes ele termina em /v1.",
  model_gave_up: "O servidor do modelo demorou demais e cancelou a solicitação (408). Tente de novo.",
  context_full: "A conversa é longa demais para o modelo. Mensagem do servidor do modelo: {quote}",
  model_refused: "O servidor do modelo recusou a solicitação ({status}).",
  model_failed: "O servidor do modelo falhou ({status}). Tente mais tarde.",
  key_wanted: "O servidor do modelo exige uma chave. Digite uma para esta conexão.",
  key_not_allowed: "O servidor do modelo não permite que esta chave use o modelo.",
  key_refused: "O servidor do modelo recusou a chave. Verifique a chave desta conexão.",
  no_credit: "A conta no servidor do modelo não tem mais créditos.",
  slow_down: "O servidor do modelo está recebendo solicitações demais. Aguarde um pouco e tente de novo.",
  sends_on: "{server} redireciona para {to}. Digite o endereço desse servidor.",
  answers_redirect: "{server} não é um servidor compatível com a OpenAI: respondeu com um redirecionamento.",
  answers_web_page:
    "{server} não é um servidor compatível com a OpenAI: respondeu com uma página da web. Verifique o endereço; muitas vezes ele termina em /v1.",
  no_model_list:
    "{server} não é um servidor compatível com a OpenAI: a lista de modelos não pode ser lida. Verifique o endereço; muitas vezes ele termina em /v1.",
  no_answer_within: "{server} não respondeu em {seconds} s.",
  no_model_server: "“{model}” não tem servidor de modelos.",
  did_you_mean: "{words} Você quis dizer {names}?",
  no_embeddings:
    "{model} não pode criar embeddings: a conexão é do tipo {kind}. Indique um modelo de embeddings.",
  useless_answer: "A resposta de {model} não pode ser usada: {why}.",
  answer_over: "A resposta de {model} tem mais de {limit} MB.",
  not_finished_within: "O modelo não terminou a resposta em {seconds} s.",
  model_reported: "O servidor do modelo informou um erro: {quote}",
  not_the_protocol:
    "O servidor do modelo em {server} enviou algo que não segue o protocolo da OpenAI: {quote}",
  conversation_too_long: "A conversa desta execução tem mais de {limit} MB.",
  answer_too_long:
    "O servidor do modelo enviou mais de {limit} MB em uma resposta. Tente de novo ou use outro modelo.",
  event_too_long:
    "O servidor do modelo enviou um único evento com mais de {limit} MB, o que não segue o protocolo.",
  gave_up_in_answer: "O servidor do modelo interrompeu a resposta no meio. Tente de novo.",
  answers_texts: "O servidor do modelo é compatível com chat, mas não com preenchimento de texto.",
  tried_just_now: "O servidor do modelo está sendo testado de novo neste momento.",
  left_alone: "{name} falhou repetidamente e não será usado por {seconds} s.",
  because: "{words} {why}",

  vectors_differ: "O modelo retornou vetores de tamanhos diferentes, que não podem ser comparados.",
  vector_without_direction: "O modelo retornou um vetor sem direção, e nada pode ser encontrado com ele.",
  built_in_slow: "O modelo integrado demorou mais de {seconds} s.",
  built_in_missing:
    "O modelo integrado não está instalado: falta {file}. Um administrador pode instalá-lo como descrito na página do manual sobre documentos.",
  built_in_broken: "O modelo integrado não pode ser carregado. Veja o log do servidor.",
  not_in_form_of: "{name} não respondeu no formato solicitado.",
  no_transcription:
    "{model} não consegue transcrever gravações: sua conexão é do tipo {kind}. Indique um modelo de transcrição.",
  reader_unreachable: "Não é possível acessar o leitor de documentos externo.",
  reader_slow: "O leitor de documentos externo levou mais de {seconds} s.",
  reader_busy: "O leitor de documentos externo está sobrecarregado.",
  reader_refused: "O leitor de documentos externo recusou o arquivo (HTTP {status}).",
  reader_failed: "O leitor de documentos externo não conseguiu ler o arquivo.",
  reader_answer_over: "A resposta do leitor de documentos externo passa de {limit} MB.",
  reader_other:
    "O que responde no endereço do leitor de documentos externo é outra coisa. Verifique knowledge.reader_url e knowledge.reader_kind.",
  recording_too_large: "A gravação é grande demais. No máximo {limit} MB são transcritos.",
  said_nothing: "{name} não descreveu a imagem.",
  only_words: "Só palavras-chave foram comparadas, não significados: {why}",
  not_embedded_yet:
    "Em algumas coleções, só palavras-chave foram comparadas: os documentos delas ainda não têm embeddings.",
  not_ranked: "Os melhores resultados não foram reordenados: {why}",

  no_address: "Não é um endereço válido: precisa começar com https:// e não pode conter nome de usuário.",
  address_not_allowed:
    "Leva a esta máquina, a uma rede privada ou a uma porta que não é da web. Só um administrador pode permitir isso (outbound.allow).",
  unreachable: "Não está acessível.",
  slow: "Não responde a tempo.",
  too_many_redirects: "Redireciona vezes demais.",
  answer_too_large: "A resposta é grande demais.",
  answer_compressed: "A resposta está compactada, embora isso não tenha sido solicitado.",
  answer_cut_off: "A conexão foi perdida no meio da resposta.",
  robots_refuse:
    "O robots.txt do site pede que programas não leiam esta página, por isso ela não foi lida. Use outra fonte.",
  no_page: "Página não encontrada (HTTP {status}).",
  page_closed: "O site não permite ler esta página (HTTP {status}). Use outra fonte.",
  site_busy: "O site pede para aguardar (HTTP 429). Tente mais tarde ou use outra fonte.",
  site_fault: "O servidor do site falhou (HTTP {status}). Tente mais tarde.",
  without_page: "O site respondeu sem uma página (HTTP {status}).",
  not_text: "O conteúdo deste endereço é {what}, não texto, e não pode ser lido.",
  a_picture: "uma imagem",
  sound_or_film: "áudio ou vídeo",
  no_image: "O site respondeu sem uma imagem (HTTP {status}).",
  not_image: "Isto não é uma imagem PNG, JPEG, GIF ou WebP.",
  page_unreadable: "A página foi carregada, mas não pode ser lida. {why}",
  page_needs_scripts: "A página não mostra nada até que seus scripts sejam executados, e {why}",
  scripts_slow: "eles não terminaram a tempo.",
  scripts_too_large: "eles usaram mais memória ou espaço em disco do que uma página pode usar.",
  browser_not_started: "não foi possível iniciar o navegador deste servidor.",
  browser_failed: "o navegador deste servidor falhou.",
  browser_not_here: "o navegador não pode ser iniciado neste sistema.",
  crawl4ai_failed: "O Crawl4AI não conseguiu carregá-la: {why}.",
  no_web_search:
    "A busca na web não está configurada neste servidor. Um administrador pode configurá-la (web.search).",
  bad_web_query: "Uma busca precisa ter de 1 a {limit} caracteres.",
  web_search_failed: "A busca não funcionou: {why}",
  own_fault: "O servidor não conseguiu fazer isto por um erro interno.",
  collection_full: {
    one: "Uma coleção pode ter no máximo {count} documento.",
    many: "Uma coleção pode ter no máximo {count} de documentos.",
    other: "Uma coleção pode ter no máximo {count} documentos.",
  },
  no_room_for_documents: "Não há mais espaço para seus documentos. Exclua alguns primeiro.",
  key_unreadable: "Esta chave não pode ser lida com o arquivo de chave deste servidor. Digite-a de novo.",
};
