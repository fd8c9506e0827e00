/** Japanese texts for the embedding model settings. */
import type { embedding as en } from "../en/embedding.ts";
import type { Entry } from "../index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "セマンティック検索",
  "embedding.intro": "埋め込みモデルを使うと、キーワードだけでなく意味でもパッセージを検索できます。",
  "embedding.inForce": "使用中のモデル",
  "embedding.none": "オフ（キーワードのみ）",
  "embedding.builtIn": "組み込み（英語）",
  "embedding.from.page": "ここで選択",
  "embedding.from.configuration": "構成ファイル",
  "embedding.dimensions": "次元数",
  "embedding.notYet": "最初のドキュメントの処理後に判明",
  "embedding.progress": "ドキュメント",
  "embedding.done": "{documents} 件中 {whole} 件完了（{percent}%）",
  "embedding.failed": { other: "{count} 件失敗" },
  "embedding.noDocuments": "ドキュメントはまだありません",
  "embedding.earlier": "それまでは {model} を使用します（ドキュメント {count} 件）。",
  "embedding.problem": "一時停止中。{message}",
  "embedding.choose": "モデル",
  "embedding.asConfigured": "構成ファイルの設定（{model}）",
  "embedding.likely": "埋め込みモデルの候補",
  "embedding.others": "その他のモデル",
  "embedding.noModels": "埋め込みモデルのあるモデルサーバーを接続すると、ここで選択できます。",
  "embedding.queryPrefix": "クエリプレフィックス",
  "embedding.passagePrefix": "パッセージプレフィックス",
  "embedding.prefixHint":
    "一部のモデルで必要です。モデルのドキュメントをご確認ください。空白も区別されます。",
  "recognition.noScript": "ページの文字体系を検出できるよう、「osd」データもインストールしてください。",
  "recognition.install": "Tesseract とその言語をインストールしてください。例：",
  "recognition.missing": "利用できません。{cause}",
  "recognition.off": "オフ",
  "recognition.languages": "言語",
  "recognition.program": "プログラム",
  "recognition.intro": "Tesseract がこのサーバー上でスキャンされたページと画像を読み取ります。",
  "recognition.title": "文字認識",
  "embedding.try": "テスト",
  "embedding.trying": "テスト中…",
  "embedding.tried": "1 文の処理に {time}かかり、{dimensions} 次元のベクトルになりました。",
  "embedding.anew":
    "すべてのドキュメントをバックグラウンドで埋め込み直します。使用量は各所有者のアカウントに計上されます。完了までは現在の埋め込みを使用します。",
  "embedding.turnsOff": "セマンティック検索がオフになります。埋め込みは 1 時間後に削除されます。",
  "audit.area.embedding": "埋め込みモデル",
  "audit.embedding.change": "埋め込みモデルを変更",
  "audit.embedding.try": "埋め込みモデルをテスト",
  "reader.title": "文書リーダー",
  "reader.intro":
    "別のプログラム（Apache Tika または Docling）が、旧形式の Office ファイルなど、このサーバーでは読めないファイルを読み取れます。",
  "reader.off": "文書リーダーは設定されていません。",
  "documents.models": "ドキュメント用のモデル",
  "documents.modelsIntro":
    "バックグラウンドと検索時にドキュメントを処理します。トークンは使用量に含まれます。",
};
