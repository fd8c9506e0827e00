/** Japanese server messages, by message code; the server sends the English text with each code. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusals } from "./refusals.ts";

export const sentences: Record<keyof Messages, Entry> = {
  ...refusals,

  thinking: "思考中…",
  summing_up: "以前のステップを要約中…",
  asking_again: "{seconds} 秒後にモデルへ再度リクエストします（{attempt}/{attempts} 回目）…",
  running_tools: "{count} 個のツールを実行中…",
  planning: "計画中…",
  searching_in_turn: "ラウンド {turn}：検索中…",
  reading_in_turn: "ラウンド {turn}：{count} 件の情報源を読み取り中…",
  writing_report: "レポートを作成中…",
  looking_for: "検索内容を検討中…",
  searching_queries: "{count} 件のクエリで検索中…",
  reading_pages: "{count} 件のページを読み取り中…",
  layer: "すべての回答を踏まえて再回答中（レイヤー {layer}/{layers}）…",

  the_run: "この実行",
  the_agent: "エージェント",
  limit_steps: "エージェントが {count} ステップを実行し、上限に達しました。ここまでの内容で終了します。",
  limit_steps_near:
    "エージェントが {limit} ステップ中 {count} ステップを実行しました。ここまでの内容で終了します。",
  limit_all_steps:
    "{who}が全エージェントの合計で {count} ステップを実行しました（上限 {limit}）。ここまでの内容で終了します。",
  limit_tokens: "{who}が {count} トークンを使用しました（上限 {limit}）。ここまでの内容で終了します。",
  limit_cost: "{who}のコストが {cost} になりました（上限 {limit}）。ここまでの内容で終了します。",
  limit_time: "{who}の作業時間が {seconds} 秒となり、上限に達しました。ここまでの内容で終了します。",
  limit_time_near:
    "{who}の作業時間が上限 {limit} 秒のうち {seconds} 秒になりました。ここまでの内容で終了します。",
  limit_answer: "回答が指定された上限の {count} トークンに達し、途中で切れました。",
  hook_stopped: "フック「{hook}」が実行を停止しました：{reason}",
  hook_withheld: "フック「{hook}」が回答をブロックしました：{reason}",

  limit_account: "{who}は上限（{span}あたり {most}）に達しました。{wait}後にリセットされます。",
  this_account: "このアカウント",
  group_of_account: "このアカウントのグループ",
  this_key: "このキー",
  this_person: "このユーザー",
  requests: "{count} リクエスト",
  tokens: "{count} トークン",
  minute: "1 分",
  day: "1 日",
  month: "1 か月",
  seconds: "{count} 秒",
  minutes: "{count} 分",
  hours: "{count} 時間",
  days: "{count} 日",
  model_not_yours: "管理者が権限を変更したため、モデル {name} は利用できなくなりました。",
  agent_not_yours: "管理者が権限を変更したため、エージェント {name} は利用できなくなりました。",
  workspace_not_yours: "管理者が権限を変更したため、作業フォルダー {name} は利用できなくなりました。",

  media_left_out:
    "このモデルは会話中の画像、音声、動画に対応していないため、それらを除いてリクエストしました。",
  parameter_left_out: "モデルがこのリクエストで「{name}」を受け付けないため、指定せずにリクエストしました。",
  tools_simplified:
    "このモデルのサーバーは次のツールのスキーマに完全には対応していないため、簡略化したものをモデルに渡しています：{tools}。引数は従来どおり検証されます。",
  tools_left_out: "このモデルのサーバーが拒否するため、次のツールを除外しました：{tools}。",
  tools_by_search:
    "ツール数がこのモデルのサーバーの上限を超えています。{all} 個中 {listed} 個を一覧に含め、残りは検索で見つけます。",
  stop_sequences_left_out: "モデルが受け付けない停止シーケンスがあるため、一部を除いてリクエストしました。",
  arguments_repaired: "モデルが生成した {tool} の引数が無効だったため、修復しました。",
  tool_name_repaired: "モデルは「{written}」を呼び出しましたが、ツール {tool} と解釈しました。",
  empty_answer: "モデルの回答は空でした。",
  made_picture_too_large:
    "モデルが生成した画像が大きすぎるため、保存できません：{size} バイト（上限 {limit}）。",
  made_picture_unreadable: "モデルが生成した画像を読み取れないため、表示していません。",
  answer_cut: "モデルが出力トークンの上限に達しました。回答が途中で切れている可能性があります。",
  answer_filtered: "モデルサーバーのコンテンツフィルターにより、回答が途中で切れました。",
  answer_without_end: "モデルサーバーからの回答が、完了の通知なしに終了しました。",
  answer_not_in_form: "回答が指定された形式ではないため、書き直しています：{fault}。",
  answer_never_in_form: "モデルは指定された形式で回答しませんでした：{fault}。",
  other_model: "{before} を使用できなかったため、{after} を使用します。{why}",
  title_missing: "タイトルがありません",
  title_of_lines: "タイトルが複数行です",
  title_without_words: "タイトルに語がないか、長すぎます",
  title_in_other_language: "タイトルの言語がチャットと異なります",
  tags_missing: "タグがありません",
  follow_ups_missing: "follow_ups がありません",
  json_missing: "{field} を含む JSON オブジェクトがありません",
  fault_and_more: "{fault}、{more}",
  no_summary: "以前のステップを要約できなかったため、省略しました：{why}",
  parts_too_long: "分割しても、モデルサーバーの上限を超えています。",
  no_answer_of: "{name} は回答しませんでした。{why}",
  nobody_answered: "このレイヤーではどのモデルも回答しなかったため、前のレイヤーの回答を使用します。",

  no_report: "モデルがレポートを作成しませんでした。以下はメモです。",
  notes_so_far: "レポートの作成前に終了しました。以下はここまでのメモです。",
  cites_nothing: "レポートに引用された情報源がないため、内容の出所を確認できません。",
  quotes_found: "引用されたメモ {count} 件中 {verified} 件の引用文が、情報源と完全に一致しました。",
  figures_unsupported: "レポートには、どの引用文にもない数値または引用が出典なしで含まれています：{list}。",
  nothing_to_research_in:
    "リサーチの対象がありません。検索できるドキュメントコレクションもウェブ検索もありません。先にコレクションを作成するか、管理者にお問い合わせください。",
  no_web_here: "ここではウェブ検索を利用できないため、ウェブ検索なしで回答します。",

  interrupted:
    "この実行中にサーバーが再起動しました。ここまでの出力は残っています。続けるには、もう一度質問してください。",
  given_up:
    "サーバーが繰り返し停止したため、この実行を終了しました。ここまでの出力は残っています。続けるには、もう一度質問してください。",
  model_gone: "この実行中にサーバーが再起動し、モデル {name} は利用できなくなりました。",
  fault_of_server: "サーバーのエラーにより実行を終了しました。ここまでの出力は残っています。",
  not_stored: "ログを保存できなかったため、実行を停止しました。",

  mcp_server_away: "現在、MCP サーバー「{name}」に接続できないため、そのツールなしで実行を続けます。",
  mcp_sign_in_ended:
    "MCP サーバー「{name}」へのログインが終了したため、そのツールなしで実行を続けます。「設定」→「ツールの許可とログイン」で再度ログインしてください。",
  mcp_server_full: "現在、MCP サーバー「{name}」への接続が多すぎます。",
  mcp_server_fails: "MCP サーバー「{name}」に接続できませんでした。",

  saying: "{words}サーバーの応答：{quote}",
  other_server: "{why}代わりに {name} を使用します。",
  other_key: "{why}{name} の別のキーを使用します。",
  model_servers_unreachable: "モデルサーバーに接続できません：{why}。",
  model_broke_off:
    "モデルサーバーが回答の途中で接続を閉じました。もう一度お試しください。繰り返す場合は、モデルサーバーのログを確認してください。",
  model_silent:
    "モデルサーバーから {waited}間応答がありません。モデルの読み込み中か、混雑している可能性があります。もう一度お試しください。",
  model_went_silent:
    "モデルサーバーが回答の途中で止まりました（{waited}間応答なし）。もう一度お試しください。",
  short_milliseconds: "{count} ミリ秒",
  short_seconds: "{count} 秒",
  certificate_not_trusted: "{server} の証明書は信頼されていません：{why}",
  server_name_unknown: "{server} のホスト名を解決できませんでした。アドレスを確認してください。",
  nothing_answers:
    "{server} に接続できませんでした。モデルサーバーが起動しているか、アドレスが正しいか確認してください。",
  closed_before_answer: "{server} のモデルサーバーが、応答する前に接続を閉じました。もう一度お試しください。",
  no_such_model: "モデルサーバーにモデル「{model}」がありません。",
  no_api:
    "{server} に OpenAI 互換の API がありません。アドレスを確認してください。末尾は /v1 であることが多いです。",
  model_gave_up: "モデルサーバーがタイムアウトしました（408）。もう一度お試しください。",
  context_full: "会話がモデルの上限を超えています。モデルサーバーの応答：{quote}",
  model_refused: "モデルサーバーがリクエストを拒否しました（{status}）。",
  model_failed: "モデルサーバーでエラーが発生しました（{status}）。後でもう一度お試しください。",
  key_wanted: "モデルサーバーにはキーが必要です。この接続のキーを入力してください。",
  key_not_allowed: "モデルサーバーが、このキーでのモデルの利用を許可していません。",
  key_refused: "モデルサーバーがキーを拒否しました。この接続のキーを確認してください。",
  no_credit: "モデルサーバーのアカウントの残高がありません。",
  slow_down:
    "モデルサーバーがリクエスト頻度を下げるよう求めています。少し待ってから、もう一度お試しください。",
  sends_on: "{server} は {to} にリダイレクトします。そのサーバーのアドレスを入力してください。",
  answers_redirect: "{server} は OpenAI 互換のサーバーではありません。リダイレクトが返されました。",
  answers_web_page:
    "{server} は OpenAI 互換のサーバーではありません。ウェブページが返されました。アドレスを確認してください。末尾は /v1 であることが多いです。",
  no_model_list:
    "{server} は OpenAI 互換のサーバーではありません。モデル一覧を読み取れません。アドレスを確認してください。末尾は /v1 であることが多いです。",
  no_answer_within: "{server} が {seconds} 秒以内に応答しませんでした。",
  no_model_server: "「{model}」のモデルサーバーがありません。",
  did_you_mean: "{words}{names} ではありませんか？",
  no_embeddings:
    "{model} は埋め込みを作成できません（接続の種類：{kind}）。埋め込みモデルを指定してください。",
  useless_answer: "{model} の応答を使用できません：{why}。",
  answer_over: "{model} の応答が {limit} MB を超えています。",
  not_finished_within: "モデルの回答が {seconds} 秒以内に完了しませんでした。",
  model_reported: "モデルサーバーがエラーを報告しました：{quote}",
  not_the_protocol: "{server} のモデルサーバーから、OpenAI プロトコルに合わない内容が届きました：{quote}",
  conversation_too_long: "この実行の会話が {limit} MB を超えています。",
  answer_too_long:
    "モデルサーバーが 1 つの回答で {limit} MB を超える内容を送信しました。もう一度試すか、別のモデルを使ってください。",
  event_too_long: "モデルサーバーがプロトコルに反して、{limit} MB を超えるイベントを送信しました。",
  gave_up_in_answer: "モデルサーバーが回答の途中で処理を中止しました。もう一度お試しください。",
  answers_texts: "モデルサーバーはチャットに対応していますが、テキスト補完には対応していません。",
  tried_just_now: "モデルサーバーへの接続を再試行しています。",
  left_alone: "{name} は繰り返し失敗したため、{seconds} 秒間使用しません。",
  because: "{words}{why}",

  vectors_differ: "モデルが返したベクトルの長さが異なるため、比較できません。",
  vector_without_direction: "モデルが返したベクトルに方向がないため、検索に使えません。",
  built_in_slow: "組み込みモデルの処理が {seconds} 秒を超えました。",
  built_in_missing:
    "組み込みモデルがインストールされていません（{file} がありません）。管理者は、マニュアルのドキュメントに関するページの手順でインストールできます。",
  built_in_broken: "組み込みモデルを読み込めません。サーバーのログを確認してください。",
  not_in_form_of: "{name} は指定された形式で回答しませんでした。",
  said_nothing: "{name} は画像の説明を返しませんでした。",
  only_words: "キーワードのみで検索しました。セマンティック検索は行われていません：{why}",
  not_embedded_yet:
    "一部のコレクションはキーワードのみで検索しました：ドキュメントの埋め込みがまだ完了していません。",
  not_ranked: "上位の結果は再ランク付けされていません：{why}",

  no_address: "使用できないアドレスです。https:// で始まり、ユーザー名を含まないアドレスにしてください。",
  address_not_allowed:
    "このマシン、プライベートネットワーク、またはウェブ用でないポートを指しています。許可できるのは管理者だけです（outbound.allow）。",
  unreachable: "接続できません。",
  slow: "時間内に応答がありません。",
  too_many_redirects: "リダイレクトが多すぎます。",
  answer_too_large: "応答が大きすぎます。",
  answer_compressed: "要求していないのに、応答が圧縮されています。",
  answer_cut_off: "応答の途中で接続が切れました。",
  robots_refuse:
    "サイトの robots.txt がプログラムによる読み取りを禁止しているため、このページは読み取りませんでした。別の情報源を使ってください。",
  no_page: "ページが見つかりません（HTTP {status}）。",
  page_closed:
    "サイトがこのページの読み取りを許可していません（HTTP {status}）。別の情報源を使ってください。",
  site_busy: "サイトが待機を求めています（HTTP 429）。後でもう一度試すか、別の情報源を使ってください。",
  site_fault: "サイトのサーバーでエラーが発生しました（HTTP {status}）。後でもう一度お試しください。",
  without_page: "サイトの応答にページがありません（HTTP {status}）。",
  not_text: "このアドレスの内容（{what}）はテキストではないため、読み取れません。",
  a_picture: "画像",
  sound_or_film: "音声または動画",
  no_image: "サイトの応答に画像がありません（HTTP {status}）。",
  not_image: "PNG、JPEG、GIF、WebP 形式の画像ではありません。",
  page_unreadable: "ページは読み込まれましたが、読み取れません。{why}",
  page_needs_scripts: "このページはスクリプトを実行するまで何も表示しませんが、{why}",
  scripts_slow: "スクリプトが時間内に終わりませんでした。",
  scripts_too_large: "スクリプトが 1 ページで使えるメモリまたはディスク容量を超えました。",
  browser_not_started: "このサーバーのブラウザーを起動できませんでした。",
  browser_failed: "このサーバーのブラウザーでエラーが発生しました。",
  browser_not_here: "このシステムではブラウザーを起動できません。",
  crawl4ai_failed: "Crawl4AI で読み込めませんでした：{why}。",
  no_web_search: "このサーバーではウェブ検索が設定されていません。管理者が設定できます（web.search）。",
  bad_web_query: "検索内容は 1～{limit} 文字にしてください。",
  web_search_failed: "検索に失敗しました：{why}",
  own_fault: "内部エラーのため、サーバーで処理できませんでした。",
  collection_full: "コレクションに入れられるドキュメントは {count} 件までです。",
  no_room_for_documents: "ドキュメントの空き容量がありません。先にいくつか削除してください。",
  key_unreadable: "このキーは、このサーバーのキーファイルで読み取れません。入力し直してください。",
};
