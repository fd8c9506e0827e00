/**
 * Portuguese descriptions of the server settings; the server sends the English ones. Loaded with the configuration page.
 */
export const serverSettings: Readonly<Record<string, string>> = {
  listen: "Endereços em que o servidor escuta.",
  public_url:
    "O endereço que as pessoas digitam, se houver um proxy reverso: esquema, host e, opcionalmente, porta e caminho.",
  strict_transport_security:
    "O cabeçalho `Strict-Transport-Security`, como `max-age=31536000`, com o qual os navegadores usam somente HTTPS.",
  cors_allow_origins: "Origens de outros sites cujas páginas podem chamar a API pelo navegador.",
  trusted_proxies: "Proxies cujo `X-Forwarded-For` é confiável.",
  data_dir: "Pasta do banco de dados e do arquivo de chave. Vazio: a pasta de dados do usuário.",
  secret_key: "A chave que criptografa os segredos guardados. Vazio: secret.key na pasta de dados.",
  secret_key_file: "Arquivo com essa chave, por exemplo um montado pelo Kubernetes.",
  database_url: "Endereço de um banco PostgreSQL. Vazio: SQLite na pasta de dados.",
  database_connections:
    "Máximo de conexões com o PostgreSQL, de 2 a 1000; mais 3 são para a concessão, os comandos e os logs.",
  bus_url:
    "Redis ou Valkey entre servidores que compartilham um banco de dados: `redis://host:6379`, ou `rediss://:password@host:6379` com TLS.",
  auth: "Como as pessoas se autenticam. `none` torna todos administradores.",
  session_hours: "Horas que um navegador mantém o login após o último uso.",
  session_max_hours: "Horas após as quais é preciso entrar de novo, por mais que o navegador seja usado.",
  seal_logs_hours: "Horas entre o fim de uma execução e a compactação do seu log; 0: nunca.",
  file_link_days: "Dias que os front-ends podem abrir os arquivos das respostas por links assinados.",
  retention_days: "Dias que as execuções sem chat são mantidas.",
  start_prompts: "Exemplos de prompts na página de um novo chat, até 6.",
  moderation: "Se os administradores podem ler os chats de todos. As pessoas são avisadas.",
  audit_days: "Dias que as entradas do log de auditoria são mantidas.",
  forward_user_info_headers:
    "Se os servidores de modelos do arquivo e do ambiente são informados de qual usuário pergunta.",
  bedrock: "Se as credenciais da AWS do servidor criam uma conexão com o Amazon Bedrock.",
  body_limit_mb: "Tamanho máximo de uma solicitação, em MB.",
  import_limit_mb: "Tamanho máximo de um arquivo para importação, em MB. 0 desativa as importações.",
  body_memory_mb: "Memória para as solicitações recebidas, em MB.",
  connection_limit: "Máximo de conexões abertas.",
  connections_per_address: "Máximo de conexões ociosas de um mesmo endereço.",
  shutdown_delay_seconds:
    "Com PostgreSQL: segundos após SIGTERM em que o servidor ainda aceita solicitações enquanto `/readyz` responde 503.",
  drain_seconds:
    "Segundos que as chamadas de modelos e ferramentas e as solicitações em curso têm para terminar ao encerrar o servidor.",
  lease_seconds:
    "Com PostgreSQL: segundos após os quais outro servidor assume as execuções de um que parou de responder.",
  approvals:
    "Regras sobre quais chamadas de ferramenta precisam de aprovação, além das que a própria ferramenta pede.",
  "limits.steps": "Chamadas de modelo de um agente.",
  "limits.all_steps": "Chamadas de modelo de todos os agentes de uma execução.",
  "limits.tokens": "Tokens de entrada e saída de uma execução.",
  "limits.seconds": "Segundos de atividade de uma execução; a espera por pessoas não conta.",
  "limits.waiting_hours": "Horas que uma pessoa tem para cada aprovação e pergunta.",
  "limits.usd": "Custo de uma execução em dólares americanos, para modelos com preço conhecido.",
  "limits.depth": "Quantos níveis de subagentes pode haver; com 1, eles não iniciam outros.",
  "limits.parallel": "Chamadas de ferramenta e subagentes de um agente executados ao mesmo tempo.",
  "limits.context_share":
    "Parte da janela de contexto que uma conversa pode ocupar; além dela, o início é resumido.",
  "programs.enabled": "Se os agentes podem executar programas.",
  "programs.python": "O interpretador Python. Vazio: o do servidor.",
  "programs.seconds": "Segundos que um programa pode durar.",
  "programs.memory_mb": "Memória de um programa, em MB.",
  "programs.processes": "Processos e threads simultâneos de um programa.",
  "programs.runner_token": "Token dos executores, que então executam todos os programas.",
  "programs.runner_wait_seconds": "Segundos que um programa espera por um executor.",
  "knowledge.file_mb": "Tamanho máximo de um arquivo em uma coleção, em MB.",
  "knowledge.person_mb": "Todos os documentos de uma pessoa, em MB.",
  "knowledge.memory_mb": "Memória para os índices das coleções pesquisadas, em MB.",
  "knowledge.embedding_model":
    "Modelo de embeddings para a busca semântica. `built-in`: o integrado. Vazio: só palavras-chave.",
  "knowledge.query_prefix": "Texto que o modelo de embeddings espera antes de uma consulta.",
  "knowledge.passage_prefix":
    "Texto que o modelo de embeddings espera antes de um trecho. Uma mudança refaz todos os embeddings.",
  "knowledge.embedding_batch": "Máximo de trechos em uma solicitação ao modelo de embeddings.",
  "knowledge.embedding_seconds": "Segundos que uma busca espera pelo modelo de embeddings.",
  "knowledge.embedding_threads": "Threads do modelo de embeddings integrado.",
  "knowledge.onnxruntime":
    "Biblioteca ONNX Runtime do modelo integrado. Vazio: a que está junto do programa ou do modelo.",
  "knowledge.qdrant_url": "Endereço de um Qdrant que compara os embeddings. Vazio: comparados na memória.",
  "knowledge.qdrant_key": "Chave de API do Qdrant.",
  "knowledge.pgvector": "Se o pgvector no PostgreSQL compara os embeddings, em vez de na memória.",
  "knowledge.source_folders":
    'Pastas do servidor com as quais administradores podem sincronizar coleções, como `["/srv/handbook"]`.',
  "knowledge.rerank_model": "Modelo que reordena os melhores trechos. Vazio: nenhum.",
  "knowledge.rerank_seconds": "Segundos que uma busca espera por esse modelo.",
  "knowledge.vision_model":
    "Modelo de visão que lê as imagens enviadas como documentos. Vazio: não são lidas.",
  "knowledge.ocr_languages":
    "Os idiomas do reconhecimento de texto, como `tesseract --list-langs` os nomeia. Vazio: todos os instalados.",
  "knowledge.ocr_program": "O programa Tesseract. Vazio: `tesseract` no `PATH` do servidor.",
  "knowledge.ocr":
    "Se o texto de páginas digitalizadas e imagens é reconhecido, quando o Tesseract está instalado.",
  "knowledge.reader_url":
    "Endereço de um leitor de documentos externo: um servidor do Apache Tika, como `http://127.0.0.1:9998`, ou do Docling, como `http://127.0.0.1:5001`. Vazio: nenhum.",
  "knowledge.reader_kind": "Tipo do leitor de documentos externo: `tika` ou `docling`.",
  "knowledge.reader_key": "Chave do leitor de documentos externo, se ele exigir uma.",
  "knowledge.reader_files":
    "Arquivos que o leitor de documentos externo lê: `unreadable` (os que não são lidos de outra forma), `scans` (imagens e documentos com páginas digitalizadas), `all`, ou os de certas extensões, como `unreadable, vsdx, pages`.",
  "knowledge.reader_seconds": "Segundos que o leitor de documentos externo tem para um arquivo.",
  "knowledge.transcription_model":
    "ID de um modelo que transcreve as gravações (MP3, M4A, WAV, Ogg, FLAC, WebM, MP4) entre os documentos. Vazio: não são lidas.",
  "knowledge.transcription_mb": "Maior gravação transcrita, em MB. A maioria dos provedores aceita 25 MB.",
  "knowledge.transcription_seconds": "Segundos que a transcrição de uma gravação pode levar.",
  "knowledge.graph_model": "Modelo que extrai os grafos das coleções. Vazio: não há grafos.",
  "knowledge.graph_url":
    "Banco de grafos com Bolt, como o Neo4j, que recebe uma cópia dos grafos. Vazio: nenhum.",
  "knowledge.graph_user": "Usuário do banco de grafos.",
  "knowledge.graph_password": "Senha desse usuário.",
  "knowledge.graph_database": "Nome do banco no servidor de grafos. Vazio: o padrão dele.",
  "research.turns": "Quantas vezes, no máximo, uma pesquisa busca e lê.",
  "research.deep_turns": "O mesmo para a pesquisa aprofundada.",
  "research.queries": "Máximo de consultas em uma rodada.",
  "research.sources": "Máximo de fontes lidas em uma rodada.",
  "research.steps": "Chamadas de modelo de todos os agentes de uma pesquisa. 0: como nas outras execuções.",
  "research.tokens": "Tokens de uma pesquisa. 0: como nas outras execuções.",
  "research.usd": "Custo de uma pesquisa em dólares americanos. 0: como nas outras execuções.",
  "research.minutes": "Minutos de atividade de uma pesquisa. 0: como nas outras execuções.",
  "web.search":
    "Provedores de busca, em ordem e separados por vírgulas: searxng, brave, tavily, mcp, own. Vazio: nenhum.",
  "web.search_url": "Endereço do SearXNG; o de outro provedor, se não for o padrão.",
  "web.search_key": "Chave de API do Brave ou Tavily; com vários provedores, a do primeiro.",
  "web.search_tool": "Com mcp: a ferramenta do servidor MCP que faz a busca.",
  "web.brave_url": "Endereço do Brave, se não for o padrão.",
  "web.brave_key": "Chave de API do Brave, se `web.search_key` for de outro provedor.",
  "web.tavily_url": "Endereço do Tavily, se não for o padrão.",
  "web.tavily_key": "Chave de API do Tavily, se `web.search_key` for de outro provedor.",
  "web.fetch": "Se os agentes podem ler páginas da web.",
  "web.robots": "Se o `robots.txt` dos sites é respeitado.",
  "web.pause_ms": "Milissegundos entre duas solicitações a um mesmo host.",
  "web.seconds": "Segundos que uma página pode levar, com redirecionamentos.",
  "web.page_mb": "Tamanho máximo de uma página, em MB.",
  "web.fresh_minutes": "Minutos em que a cópia de uma página é usada sem consultar o servidor dela.",
  "web.person_mb": "Cópias de páginas de uma pessoa, em MB; as mais antigas são excluídas.",
  "web.browser":
    "O que executa os scripts das páginas que precisam deles: auto, o caminho de um Chromium ou o endereço de um Crawl4AI. Vazio: nada.",
  "web.browser_key": "Token do Crawl4AI.",
  "web.browser_hosts": "Hosts cujas páginas são sempre lidas com o navegador.",
  "web.browser_seconds": "Segundos que os scripts de uma página podem durar.",
  "pipelines.task_model":
    "Modelo para títulos e tarefas parecidas em chats com um modelo desta máquina ou da rede dela. Vazio: o do chat.",
  "pipelines.task_model_external": "O mesmo em chats com um modelo externo.",
  "pipelines.enable_title_generation": "Se um modelo escreve os títulos dos chats.",
  "pipelines.title_generation_prompt_template": "Template de prompt para títulos. Vazio: o integrado.",
  "pipelines.enable_tags_generation": "Se um modelo escreve as tags dos chats.",
  "pipelines.tags_generation_prompt_template": "Template de prompt para tags. Vazio: o integrado.",
  "pipelines.enable_follow_up_generation": "Se um modelo sugere perguntas de continuação.",
  "pipelines.follow_up_generation_prompt_template":
    "Template de prompt para essas sugestões. Vazio: o integrado.",
  "pipelines.enable_search_query_generation":
    "Se um modelo escreve as consultas para a busca na web antes da resposta.",
  "pipelines.enable_retrieval_query_generation":
    "O mesmo para documentos, em todas as mensagens exceto a primeira do chat.",
  "pipelines.query_generation_prompt_template":
    "Template de prompt para consultas, na web e em documentos. Vazio: o integrado.",
  "pipelines.rag_template": "Template que apresenta os trechos ao modelo. Vazio: o integrado.",
  "pipelines.rag_top_k": "Máximo de trechos por mensagem.",
  "pipelines.rag_system_context":
    "Se os trechos ficam na mensagem de sistema em vez de antes da mensagem do usuário.",
  "pipelines.enable_autocomplete_generation": "Se um modelo completa o que as pessoas escrevem.",
  "pipelines.autocomplete_generation_input_max_length":
    "Tamanho máximo do texto completado, em caracteres. -1: qualquer.",
  "pipelines.autocomplete_generation_prompt_template":
    "Template de prompt para o preenchimento automático. Vazio: o integrado.",
  "pipelines.enable_moa_generation": "Se várias respostas a uma mensagem podem ser mescladas.",
  "pipelines.moa_generation_prompt_template":
    "Template de prompt para mesclar respostas. Vazio: o integrado.",
  "pipelines.moa_samples": "Quantas respostas são pedidas a um modelo por padrão.",
  "pipelines.moa_layers":
    "Quantas rodadas de respostas há antes da mesclagem; a partir da segunda, com todas à vista.",
  "pipelines.tools_function_calling_prompt_template":
    "Template de prompt que descreve as ferramentas a modelos sem chamada de ferramentas. Vazio: o integrado.",
  "pipelines.enable_code_interpreter":
    "Se esses modelos escrevem Python entre tags; se não, eles o chamam como qualquer outra ferramenta.",
  "pipelines.code_interpreter_prompt_template":
    "Template de prompt que descreve o interpretador de código a esses modelos. Vazio: o integrado.",
  "pipelines.code_interpreter_max_retries":
    "Quantas vezes seguidas um Python com falha é tentado de novo em uma resposta.",
  "object_storage.url":
    "Onde ficam os conteúdos grandes: `s3://BUCKET/PREFIXO`, `gs://…`, `az://…` ou `file:///PASTA`. Vazio: no banco de dados.",
  "object_storage.endpoint": "Endereço do serviço. Vazio: o do provedor.",
  "object_storage.region": "Região de um bucket do S3. Vazio: `AWS_REGION` ou us-east-1.",
  "object_storage.access_key":
    "ID da chave de acesso do S3 ou nome da conta do Azure. Vazio: do ambiente ou da função da máquina.",
  "object_storage.secret_key":
    "Chave secreta do S3 e do Azure, ou conta de serviço do Google em JSON. Vazio: do ambiente ou da função.",
  "object_storage.secret_key_file": "Arquivo com essa chave.",
  "object_storage.path_style": "Se o bucket do S3 fica no caminho e não no nome do host.",
  "skills.folder": "Pasta das habilidades. Vazio: `skills` na pasta de dados.",
  "model_timeouts.first_token_seconds": "Segundos que o primeiro token de uma resposta pode levar.",
  "model_timeouts.idle_seconds": "Segundos que um modelo pode ficar em silêncio no meio de uma resposta.",
  "oidc.issuer": "Endereço do provedor OpenID Connect. Vazio: desativado.",
  "oidc.client_id": "ID do cliente no provedor.",
  "oidc.client_secret": "Segredo do cliente no provedor.",
  "oidc.name": "Nome do provedor no botão “Continuar com …”.",
  "oidc.scopes": "Escopos solicitados.",
  "oidc.groups_claim": "A claim com os grupos de uma pessoa.",
  "oidc.groups_url": "Onde são pedidos os grupos que não cabem no token. Vazio: em lugar nenhum.",
  "oidc.admin_groups": "Grupos cujos membros são administradores. Vazio: escolhidos aqui.",
  "oidc.allowed_groups": "Grupos cujos membros podem entrar. Vazio: todos.",
  "oidc.create_accounts": "Se as pessoas recebem uma conta no primeiro login.",
  "oidc.link_by_email": "Se um endereço verificado dá acesso à conta existente com o mesmo endereço.",
  "trusted_header.user": "Cabeçalho com o ID da pessoa no proxy. Vazio: nenhum proxy autentica as pessoas.",
  "trusted_header.email": "Cabeçalho com o e-mail da pessoa. Vazio: o ID é o endereço.",
  "trusted_header.name": "Cabeçalho com o nome da pessoa.",
  "trusted_header.groups": "Cabeçalho com os grupos da pessoa.",
  "trusted_header.groups_separator": "Separador entre dois grupos.",
  "trusted_header.proxies": "Endereços e redes de onde o proxy se conecta. Os demais não são confiáveis.",
  "trusted_header.sign_out_url": "Endereço onde as pessoas saem do proxy.",
  "trusted_header.admin_groups":
    "Grupos cujos membros são administradores, segundo o proxy. Vazio: escolhidos aqui.",
  "trusted_header.allowed_groups": "Grupos cujos membros podem entrar, segundo o proxy. Vazio: todos.",
  "trusted_header.create_accounts": "Se as pessoas recebem uma conta na primeira solicitação.",
  "trusted_header.link_by_email":
    "Se o endereço informado pelo proxy dá acesso à conta existente com esse endereço.",
  "mail.server": "O servidor SMTP que envia os e-mails.",
  "mail.security": "Como a conexão com o servidor de e-mail é criptografada: `starttls`, `tls` ou `none`.",
  "mail.user": "O nome de usuário no servidor de e-mail.",
  "mail.password": "A senha desse usuário.",
  "mail.from": "O remetente dos e-mails.",
  "outbound.allow":
    "Hosts e redes que solicitações a endereços de terceiros podem acessar, além da internet pública.",
  "tls.certificate":
    "Arquivo com o certificado com que o próprio servidor fala TLS, em PEM, seguido dos intermediários.",
  "tls.key": "Arquivo com a chave privada do certificado, em PEM, sem senha.",
  "tls.http2":
    "Se os clientes podem usar HTTP/2, em que uma conexão leva todas as solicitações de um navegador.",
  "log.level": "Nível do log.",
  "log.format": "Formato do log: texto ou JSON.",
  "tracing.endpoint": "Coletor OpenTelemetry que recebe os traces. Vazio: nenhum.",
  "tracing.content": "Se os traces incluem tarefas, argumentos e resultados.",
};
