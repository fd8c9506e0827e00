/** What each setting of the configuration does, in each language; loaded with its page only. */
import type { ServerSetting, SettingValue } from "../../api/configuration.ts";
import type { Language } from "../../state/preferences.svelte.ts";

/** The heading of the settings that stand in no section. */
export const server = "server";

const texts: Record<string, readonly [en: string, ru: string]> = {
  listen: ["Addresses to listen on.", "Адреса, на которых сервер ждёт соединений."],
  public_url: [
    "The address people type, where a proxy stands in front.",
    "Адрес, который вводят люди, если перед сервером стоит прокси.",
  ],
  cors_allow_origins: [
    "Other sites whose pages may call the API with a key.",
    "Другие сайты, страницам которых можно обращаться к API с ключом.",
  ],
  trusted_proxies: [
    "Proxies whose word for who sends a request is taken.",
    "Прокси, которым сервер верит, от кого пришёл запрос.",
  ],
  data_dir: [
    "Folder of the database and the key file. Empty: the user's data folder.",
    "Папка базы данных и файла с ключом. Пусто: папка данных пользователя.",
  ],
  database_url: [
    "PostgreSQL's address. Empty: SQLite in the data folder.",
    "Адрес PostgreSQL. Пусто: SQLite в папке данных.",
  ],
  auth: [
    "How people prove who they are. “none” lets everybody on this machine in as the administrator.",
    "Как люди подтверждают, кто они. «none» пускает всех на этой машине как администратора.",
  ],
  session_hours: [
    "How many hours a browser stays signed in.",
    "Сколько часов браузер остаётся в системе после входа.",
  ],
  file_link_days: [
    "How many days front ends can use the signed addresses of files in answers.",
    "Сколько дней внешние программы могут открывать файлы из ответов по подписанным ссылкам.",
  ],
  retention_days: [
    "How many days runs without a chat are kept.",
    "Сколько дней хранятся запуски, не относящиеся к чату.",
  ],
  moderation: [
    "Whether administrators may read everybody's chats. People are told.",
    "Могут ли администраторы читать чаты всех. Людям об этом сообщается.",
  ],
  audit_days: [
    "How many days lines of the audit log are kept.",
    "Сколько дней хранятся записи журнала аудита.",
  ],
  forward_user_info_headers: [
    "Whether the model servers of the file and the environment are told who asks.",
    "Сообщать ли серверам моделей из файла и переменных окружения, кто спрашивает.",
  ],
  bedrock: [
    "Whether AWS credentials of the environment or the machine make a connection to Amazon Bedrock.",
    "Создавать ли подключение к Amazon Bedrock по учётным данным AWS из окружения или с этой машины.",
  ],
  body_limit_mb: ["The largest request, in MB.", "Наибольший запрос, МБ."],
  import_limit_mb: [
    "The largest file that a person may import, in MB. 0: importing is off.",
    "Наибольший файл, который можно импортировать, МБ. 0: импорт отключён.",
  ],
  body_memory_mb: [
    "The memory for requests that are being read, in MB.",
    "Память для принимаемых запросов, МБ.",
  ],
  connection_limit: [
    "The most connections at a time; more wait.",
    "Сколько соединений бывает одновременно; остальные ждут.",
  ],
  connections_per_address: [
    "The most idle connections of one address.",
    "Сколько простаивающих соединений может держать один адрес.",
  ],
  drain_seconds: [
    "How many seconds open requests may take when the server stops.",
    "Сколько секунд даётся открытым запросам при остановке сервера.",
  ],
  lease_seconds: [
    "Several servers on one PostgreSQL: how many seconds after one has fallen silent another takes its runs.",
    "Несколько серверов на одном PostgreSQL: через сколько секунд молчания одного другой забирает его запуски.",
  ],
  approvals: [
    "Rules for tool calls that wait for consent, beyond what each tool asks for itself.",
    "Правила о том, какие вызовы инструментов ждут согласия, сверх того, что просят сами инструменты.",
  ],
  "limits.steps": ["Model calls of one agent in a run.", "Вызовов модели у одного агента за запуск."],
  "limits.all_steps": [
    "Model calls of all agents of a run together.",
    "Вызовов модели у всех агентов запуска вместе.",
  ],
  "limits.tokens": [
    "Input and output tokens of a run. 0: no limit.",
    "Входных и выходных токенов за запуск. 0: без ограничения.",
  ],
  "limits.seconds": [
    "Seconds of work of a run; waiting for people does not count.",
    "Секунд работы запуска; ожидание людей не считается.",
  ],
  "limits.waiting_hours": [
    "How many hours a person has for each question.",
    "Сколько часов есть у человека на каждый вопрос.",
  ],
  "limits.usd": [
    "US dollars that a run may cost, for models with prices.",
    "Сколько долларов США может стоить запуск, для моделей с ценами.",
  ],
  "limits.depth": ["How deep sub-agents may nest.", "Глубина вложенности субагентов."],
  "limits.parallel": [
    "Tool calls and sub-agents of one agent at a time.",
    "Сколько вызовов и субагентов одного агента работает одновременно.",
  ],
  "limits.context_share": [
    "The share of a model's context window that a conversation may fill before its older part is summed up.",
    "Доля окна контекста модели, после которой старая часть беседы сжимается в сводку.",
  ],
  "programs.enabled": ["Whether agents may run programs.", "Могут ли агенты запускать программы."],
  "programs.python": [
    "The Python to use. Empty: that of the server.",
    "Какой Python использовать. Пусто: тот, что есть у сервера.",
  ],
  "programs.seconds": ["Seconds that a program may take.", "Сколько секунд может работать программа."],
  "programs.memory_mb": ["Memory of a program, in MB.", "Память программы, МБ."],
  "programs.processes": [
    "Processes of a program at a time.",
    "Сколько процессов программы бывает одновременно.",
  ],
  "knowledge.file_mb": [
    "The largest file in a collection of documents, in MB.",
    "Наибольший файл в коллекции документов, МБ.",
  ],
  "knowledge.person_mb": [
    "All documents of a person together, in MB.",
    "Все документы одного человека вместе, МБ.",
  ],
  "knowledge.memory_mb": [
    "How much memory collections may take that were searched before, in MB.",
    "Сколько памяти занимают коллекции, в которых уже искали, МБ.",
  ],
  "knowledge.embedding_model": [
    "The model that compares meanings when documents are searched. “built-in”: the program's own. Empty: words alone.",
    "Модель, которая сравнивает смысл при поиске в документах. «built-in»: встроенная. Пусто: только слова.",
  ],
  "knowledge.query_prefix": [
    "What the embedding model wants before a question.",
    "Что модель векторов ждёт перед вопросом.",
  ],
  "knowledge.passage_prefix": [
    "What the embedding model wants before a passage. Another one makes all vectors anew.",
    "Что модель векторов ждёт перед отрывком. При изменении все векторы считаются заново.",
  ],
  "knowledge.embedding_batch": [
    "Most passages of one request to the embedding model.",
    "Наибольшее число отрывков в одном запросе к модели векторов.",
  ],
  "knowledge.embedding_seconds": [
    "How many seconds a search waits for the embedding model.",
    "Сколько секунд поиск ждёт модель векторов.",
  ],
  "knowledge.embedding_threads": [
    "On how many threads the built-in embedding model computes.",
    "На скольких потоках считает встроенная модель векторов.",
  ],
  "knowledge.onnxruntime": [
    "The ONNX Runtime library of the built-in model. Empty: beside the program or with the model.",
    "Библиотека ONNX Runtime для встроенной модели. Пусто: рядом с программой или с моделью.",
  ],
  "knowledge.qdrant_url": [
    "A Qdrant that compares the vectors. Empty: they are compared in memory.",
    "Qdrant, который сравнивает векторы. Пусто: они сравниваются в памяти.",
  ],
  "knowledge.qdrant_key": ["Our key there.", "Наш ключ к нему."],
  "knowledge.pgvector": [
    "Whether pgvector in our PostgreSQL compares the vectors instead of the memory.",
    "Сравнивает ли векторы pgvector в нашей PostgreSQL, а не память.",
  ],
  "knowledge.rerank_model": [
    "The model that looks at the best passages once more. Empty: none.",
    "Модель, которая ещё раз оценивает лучшие отрывки. Пусто: никакая.",
  ],
  "knowledge.rerank_seconds": [
    "How many seconds a search waits for that model.",
    "Сколько секунд поиск ждёт эту модель.",
  ],
  "knowledge.vision_model": [
    "The model that looks at pictures that come as documents. Empty: they are not read.",
    "Модель, которая смотрит картинки, загруженные как документы. Пусто: их не читают.",
  ],
  "knowledge.graph_model": [
    "The model that reads documents for the graphs of collections. Empty: there are no graphs.",
    "Модель, которая читает документы для графов коллекций. Пусто: графов нет.",
  ],
  "knowledge.graph_url": [
    "A graph database that speaks Bolt, such as Neo4j, with a copy of the graphs. Empty: none.",
    "Графовая база данных с протоколом Bolt, например Neo4j, где хранится копия графов. Пусто: нет.",
  ],
  "knowledge.graph_user": ["Our user in the graph database.", "Наш пользователь в графовой базе данных."],
  "knowledge.graph_password": ["The user's password.", "Пароль этого пользователя."],
  "knowledge.graph_database": [
    "Which database of the graph server. Empty: its usual one.",
    "Какая база данных на графовом сервере. Пусто: обычная.",
  ],
  "research.turns": [
    "How often research searches and reads, at most.",
    "Сколько раз исследование ищет и читает, не больше.",
  ],
  "research.deep_turns": ["The same of deep research.", "То же для глубокого исследования."],
  "research.queries": ["Most queries of a turn.", "Сколько запросов бывает за один круг."],
  "research.sources": ["Most sources read in a turn.", "Сколько источников читается за один круг."],
  "research.steps": [
    "Model calls of all agents of one research. 0: what “limits” says.",
    "Вызовы модели всех агентов одного исследования. 0: как в «limits».",
  ],
  "research.tokens": ["Its tokens. 0: what “limits” says.", "Его токены. 0: как в «limits»."],
  "research.usd": ["Its money. 0: what “limits” says.", "Его деньги. 0: как в «limits»."],
  "research.minutes": [
    "Its time in which it does something. 0: what “limits” says.",
    "Его время, когда оно что-то делает. 0: как в «limits».",
  ],
  "web.search": [
    "Who searches the web: searxng, brave, tavily, mcp or own; several with commas, the first that finds something wins. Empty: nobody.",
    "Кто ищет в интернете: searxng, brave, tavily, mcp или own; несколько — через запятую, берётся первый, кто что-то нашёл. Пусто: никто.",
  ],
  "web.search_url": [
    "The address of SearXNG; for the others where it is not the usual one.",
    "Адрес SearXNG; для остальных — если он не обычный.",
  ],
  "web.search_key": [
    "The key for Brave or Tavily; of several, that of the first.",
    "Ключ для Brave или Tavily; если их несколько — для первого.",
  ],
  "web.search_tool": [
    "With mcp: the tool of an MCP server that searches.",
    "Для mcp: инструмент сервера MCP, который ищет.",
  ],
  "web.brave_url": [
    "The address of Brave, where it is not the usual one.",
    "Адрес Brave, если он не обычный.",
  ],
  "web.brave_key": ["The key for Brave, beside others.", "Ключ для Brave, когда служб несколько."],
  "web.tavily_url": [
    "The address of Tavily, where it is not the usual one.",
    "Адрес Tavily, если он не обычный.",
  ],
  "web.tavily_key": ["The key for Tavily, beside others.", "Ключ для Tavily, когда служб несколько."],
  "web.fetch": ["Whether agents read pages of the web.", "Читают ли агенты страницы в интернете."],
  "web.robots": [
    "Whether pages are left alone that their site’s robots.txt closes.",
    "Не читать страницы, которые закрыл robots.txt сайта.",
  ],
  "web.pause_ms": [
    "Milliseconds between two requests to one host.",
    "Миллисекунды между двумя запросами к одному узлу.",
  ],
  "web.seconds": [
    "How many seconds a page may take, with all redirects.",
    "Сколько секунд ждать страницу со всеми перенаправлениями.",
  ],
  "web.page_mb": ["The largest page, in MB.", "Наибольшая страница, МБ."],
  "web.fresh_minutes": [
    "So many minutes a copy is taken without asking the page’s server.",
    "Столько минут копия берётся без вопроса к серверу страницы.",
  ],
  "pipelines.task_model": [
    "Model that writes titles and the like in chats with a model on this machine or in its network. Empty: the chat’s own.",
    "Модель, которая пишет заголовки и подобное в чатах с моделью на этой машине или в её сети. Пусто: модель самого чата.",
  ],
  "pipelines.task_model_external": [
    "The same in chats with a model elsewhere.",
    "То же в чатах с моделью в другом месте.",
  ],
  "pipelines.enable_title_generation": [
    "Whether a model finds titles for chats.",
    "Подбирает ли модель заголовки чатов.",
  ],
  "pipelines.title_generation_prompt_template": [
    "How it is asked for a title. Empty: the built-in template.",
    "Как у неё просят заголовок. Пусто: встроенный шаблон.",
  ],
  "pipelines.enable_tags_generation": [
    "Whether a model finds tags for chats.",
    "Подбирает ли модель теги чатов.",
  ],
  "pipelines.tags_generation_prompt_template": ["How it is asked for tags.", "Как у неё просят теги."],
  "pipelines.enable_follow_up_generation": [
    "Whether a model says what could come next.",
    "Предлагает ли модель, что сказать дальше.",
  ],
  "pipelines.follow_up_generation_prompt_template": ["How it is asked for that.", "Как её об этом просят."],
  "pipelines.enable_search_query_generation": [
    "Whether a model works out what is searched for on the web before an answer.",
    "Решает ли модель, что искать в сети перед ответом.",
  ],
  "pipelines.enable_retrieval_query_generation": [
    "The same for documents, for all messages but a chat’s first.",
    "То же для документов, для всех сообщений чата, кроме первого.",
  ],
  "pipelines.query_generation_prompt_template": ["How both are asked for.", "Как просят и те, и другие."],
  "pipelines.rag_template": [
    "How passages of documents are told to the model.",
    "Как модели сообщают отрывки документов.",
  ],
  "pipelines.rag_top_k": ["Most passages for one message.", "Сколько отрывков приходится на сообщение."],
  "pipelines.rag_system_context": [
    "Whether what was found stands in the system message, and not before the person’s words.",
    "Стоит ли найденное в системном сообщении, а не перед словами человека.",
  ],
  "pipelines.enable_autocomplete_generation": [
    "Whether what people write is completed.",
    "Дополняется ли то, что люди пишут.",
  ],
  "pipelines.autocomplete_generation_input_max_length": [
    "Up to how many characters of it. -1: any.",
    "До скольких знаков текста. -1: до любого.",
  ],
  "pipelines.autocomplete_generation_prompt_template": ["How that is asked for.", "Как об этом просят."],
  "pipelines.enable_moa_generation": [
    "Whether several answers to a message can be made one.",
    "Можно ли свести несколько ответов на сообщение в один.",
  ],
  "pipelines.moa_generation_prompt_template": ["How that is asked for.", "Как об этом просят."],
  "pipelines.moa_samples": [
    "How often one model is asked for answers side by side, where nobody says.",
    "Сколько ответов рядом просят у одной модели, если никто не сказал.",
  ],
  "pipelines.moa_layers": [
    "How often is answered before answers are merged: after the first time, with all answers in view.",
    "Сколько раз отвечают до сведения: со второго раза — видя все ответы.",
  ],
  "pipelines.tools_function_calling_prompt_template": [
    "How tools are told to models that cannot call them otherwise.",
    "Как об инструментах говорят моделям, которые не могут вызывать их иначе.",
  ],
  "pipelines.enable_code_interpreter": [
    "Whether such models write Python in tags; off, they call it like any other tool.",
    "Пишут ли такие модели Python в тегах; если нет, они вызывают его, как другие инструменты.",
  ],
  "pipelines.code_interpreter_prompt_template": ["How they are told of it.", "Как им об этом говорят."],
  "pipelines.code_interpreter_max_retries": [
    "How often in a row Python that failed is tried again in one answer.",
    "Сколько раз подряд Python с ошибкой пробуют снова в одном ответе.",
  ],
  "web.person_mb": [
    "All copies of pages of a person together, in MB. The oldest go.",
    "Все копии страниц одного человека вместе, МБ. Старые удаляются.",
  ],
  "web.browser": [
    "Who runs the scripts of pages that need them: auto, the path of a Chromium, or the address of a Crawl4AI. Empty: nobody.",
    "Кто выполняет скрипты страниц, которым они нужны: auto, путь к Chromium или адрес Crawl4AI. Пусто: никто.",
  ],
  "web.browser_key": ["The token of Crawl4AI.", "Токен Crawl4AI."],
  "web.browser_hosts": ["Hosts whose pages always go there.", "Узлы, страницы которых всегда идут туда."],
  "web.browser_seconds": [
    "How many seconds the scripts of a page may run.",
    "Сколько секунд могут работать скрипты страницы.",
  ],
  "skills.folder": [
    "Where skills are. Empty: “skills” in the data folder.",
    "Где лежат навыки. Пусто: «skills» в папке данных.",
  ],
  "model_timeouts.first_token_seconds": [
    "How many seconds the first token of a model may take.",
    "Сколько секунд ждать первый токен модели.",
  ],
  "model_timeouts.idle_seconds": [
    "How many seconds a model may be silent in the middle of an answer.",
    "Сколько секунд модель может молчать посреди ответа.",
  ],
  "oidc.issuer": [
    "The provider that signs people in. Empty: none.",
    "Провайдер, через которого входят люди. Пусто: никакой.",
  ],
  "oidc.client_id": ["Who this server is there.", "Кем этот сервер там записан."],
  "oidc.client_secret": ["How it proves that.", "Чем он это подтверждает."],
  "oidc.name": ["What the button says after “Continue with”.", "Название провайдера на кнопке входа."],
  "oidc.scopes": ["What the provider is asked for.", "Какие сведения запрашиваются у провайдера."],
  "oidc.groups_claim": [
    "Where a person's groups stand in what the provider tells.",
    "Где в ответе провайдера записаны группы человека.",
  ],
  "oidc.groups_url": [
    "Where groups are asked for that the token leaves out as too many. Empty: nowhere.",
    "Где запрашиваются группы, которые не поместились в токен. Пусто: нигде.",
  ],
  "oidc.admin_groups": [
    "Who is in one of these is an administrator. Empty: administrators are chosen here.",
    "Участники этих групп — администраторы. Пусто: администраторов выбирают здесь.",
  ],
  "oidc.allowed_groups": [
    "Only who is in one of these is let in. Empty: everybody.",
    "Войти могут только участники этих групп. Пусто: все.",
  ],
  "oidc.create_accounts": [
    "Whether people get an account when they first come.",
    "Создаётся ли учётная запись при первом входе.",
  ],
  "oidc.link_by_email": [
    "Whether a verified address finds the account that has the same.",
    "Находит ли подтверждённый адрес учётную запись с таким же адресом.",
  ],
  "trusted_header.user": [
    "The header with a proxy’s name for the person. Empty: no proxy signs people in.",
    "Заголовок с именем человека у прокси. Пусто: прокси никого не впускает.",
  ],
  "trusted_header.email": [
    "The header with the e-mail address. Empty: the name is the address.",
    "Заголовок с адресом почты. Пусто: имя и есть адрес.",
  ],
  "trusted_header.name": [
    "The header with what the person is called.",
    "Заголовок с тем, как зовут человека.",
  ],
  "trusted_header.groups": ["The header with the person’s groups.", "Заголовок с группами человека."],
  "trusted_header.groups_separator": ["What stands between two groups.", "Что стоит между двумя группами."],
  "trusted_header.proxies": [
    "The addresses that the proxy connects from. Nobody else is believed.",
    "Адреса, с которых подключается прокси. Больше никому не верят.",
  ],
  "trusted_header.sign_out_url": ["Where people sign out at the proxy.", "Где люди выходят из прокси."],
  "trusted_header.admin_groups": [
    "Who is in one of these is an administrator, by the proxy’s word. Empty: administrators are chosen here.",
    "Участники этих групп — администраторы, по слову прокси. Пусто: администраторов выбирают здесь.",
  ],
  "trusted_header.allowed_groups": [
    "Only who is in one of these is let in by the proxy’s word. Empty: everybody.",
    "По слову прокси войти могут только участники этих групп. Пусто: все.",
  ],
  "trusted_header.create_accounts": [
    "Whether people whom the proxy names get an account when they first come.",
    "Создаётся ли учётная запись при первом входе через прокси.",
  ],
  "trusted_header.link_by_email": [
    "Whether the address that the proxy says finds the account that has the same.",
    "Находит ли адрес от прокси учётную запись с таким же адресом.",
  ],
  "outbound.allow": [
    "Hosts and networks that requests to places named by others may reach, beyond the open internet.",
    "Узлы и сети, куда можно обращаться по адресам, названным другими, сверх открытого интернета.",
  ],
  "log.level": ["How much is written to the server's log.", "Насколько подробен журнал сервера."],
  "log.format": ["Lines for people, or JSON.", "Строки для людей или JSON."],
  "tracing.endpoint": [
    "Where traces of runs are sent. Empty: nowhere.",
    "Куда отправляются трассировки запусков. Пусто: никуда.",
  ],
  "tracing.content": [
    "Whether tasks, arguments and results stand in them.",
    "Есть ли в них задания, аргументы и результаты.",
  ],
};

/** What a setting does; nothing for one of a newer server. */
export function aboutSetting(name: string, language: Language): string {
  const known = Object.hasOwn(texts, name) ? texts[name] : undefined;
  return known?.[language === "ru" ? 1 : 0] ?? "";
}

/** As the file would have it. */
export function written(value: SettingValue): string {
  if (!Array.isArray(value)) return typeof value === "string" ? `"${value}"` : String(value);
  return value.length === 0 ? "[]" : `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
}

/** The settings in their sections; those without one come first. */
export function bySection(settings: readonly ServerSetting[]): [string, ServerSetting[]][] {
  const sections = new Map<string, ServerSetting[]>([[server, []]]);
  for (const setting of settings) {
    const [section, inner] = setting.name.split(".");
    const name = inner === undefined ? server : (section ?? server);
    sections.set(name, [...(sections.get(name) ?? []), setting]);
  }
  return [...sections].filter(([, list]) => list.length > 0);
}
